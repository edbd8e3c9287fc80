import { ChevronsUpDown, KeyRound, LogOut, Monitor, MonitorX, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { useClaimOnOpen } from "../claiming/setting.ts";
import { Menu } from "../parts/Menu.tsx";
import { toast } from "../parts/Toasts.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { PasswordDialog } from "./PasswordDialog.tsx";
import { SignOutDialog } from "./SignOutDialog.tsx";
import { chooseTheme, useTheme } from "./theme.ts";

type Open = "password" | "everywhere" | null;

const themes = [
  { name: "Light", icon: <Sun size={14} aria-hidden />, value: "light" as const },
  { name: "Dark", icon: <Moon size={14} aria-hidden />, value: "dark" as const },
  { name: "System", icon: <Monitor size={14} aria-hidden />, value: "system" as const },
];

// The signed-in person, with personal settings: theme, password, sessions.
export function PersonMenu({ look }: { look: string }) {
  const { session, leave } = useWorkspace();
  const theme = useTheme();
  const [claimsOnOpen, setClaimsOnOpen] = useClaimOnOpen();
  const [open, setOpen] = useState<Open>(null);
  const { name, email, role } = session.user;
  const out = () =>
    void leave().catch(() => toast({ kind: "problem", words: "You are still signed in: the service cannot be reached." }));
  const trigger = (
    <button type="button" className={`${look} h-11`}>
      <span
        aria-hidden
        className="grid size-6 shrink-0 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
      >
        {(name || email).slice(0, 1).toUpperCase()}
      </span>
      <span className="min-w-0 flex-1 text-left leading-tight max-xl:sr-only">
        <span className="block truncate text-ink">{name || email}</span>
        <span className="block text-xs text-faint">{role}</span>
      </span>
      <ChevronsUpDown size={14} className="max-xl:hidden" aria-hidden />
    </button>
  );
  return (
    <>
      <Menu
        name="Theme, password and sign-out"
        trigger={trigger}
        groups={[
          {
            title: email,
            items: themes.map(({ value, ...each }) => ({ ...each, isChosen: theme === value, run: () => chooseTheme(value) })),
          },
          {
            items: [{ name: "Claim cases when I open them", isChosen: claimsOnOpen, run: () => setClaimsOnOpen(!claimsOnOpen) }],
          },
          {
            items: [
              { name: "Change the password", icon: <KeyRound size={14} aria-hidden />, run: () => setOpen("password") },
              { name: "Sign out everywhere", icon: <MonitorX size={14} aria-hidden />, run: () => setOpen("everywhere") },
              { name: "Sign out", icon: <LogOut size={14} aria-hidden />, run: out },
            ],
          },
        ]}
      />
      {open === "password" && <PasswordDialog onClose={() => setOpen(null)} />}
      {open === "everywhere" && <SignOutDialog onClose={() => setOpen(null)} />}
    </>
  );
}
