import type { Role } from "@casehound/client";

export const roleWords: Record<Role, { name: string; may: string }> = {
  investigator: { name: "Investigator", may: "Works on cases and accounts, and can view rules and figures." },
  lead: { name: "Lead", may: "Also changes rules and sees the list of people." },
  admin: { name: "Admin", may: "Also invites people, creates credentials, sends activity and erases accounts." },
};
