import type { Role } from "@casehound/client";

export const roleWords: Record<Role, { name: string; may: string }> = {
  investigator: { name: "Investigator", may: "Works on cases and accounts, and reads the rest." },
  lead: { name: "Lead", may: "Also changes rules, and sees who the people are." },
  admin: { name: "Admin", may: "Also invites people, makes credentials, sends activity, erases accounts." },
};
