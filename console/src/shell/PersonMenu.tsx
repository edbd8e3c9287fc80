import { useNavigate } from "@tanstack/react-router";
import { Bell, ChevronsUpDown, KeyRound, LogOut, Monitor, MonitorX, Moon, ShieldCheck, Sun } from "lucide-react";
import { Suspense, lazy, useState } from "react";
import { useClaimOnOpen } from "../claiming/setting.ts";
import { Menu } from "../parts/Menu.tsx";
import { toast } from "../parts/Toasts.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { chooseTheme, useTheme } from "./theme.ts";

// People open these rarely, so they are not part of the first load.
const PasswordDialog = lazy(async () => ({ default: (await import("./PasswordDialog.tsx")).PasswordDialog }));
const SignOutDialog = lazy(async () => ({ default: (await import("./SignOutDialog.tsx")).SignOutDialog }));
const SecurityDialog = lazy(async () => ({ default: (await import("../security/SecurityDialog.tsx")).SecurityDialog }));

type Open = "password" | "security" | "everywhere" | null;

const themes = [
  { name: "Light", icon: <Sun size={14} aria-hidden />, value: "light" as const },
  { name: "Dark", icon: <Moon size={14} aria-hidden />, value: "dark" as const },
  { name: "System", icon: <Monitor size={14} aria-hidden />, value: "system" as const },
];

// The signed-in person, with personal settings: theme, password, sessions.
export function PersonMenu({ look }: { look: string }) {
  const { session, leave, may } = useWorkspace();
  const navigate = useNavigate();
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
      <ChevronsUpDown size={14} className="shrink-0 max-xl:hidden" aria-hidden />
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
              ...(may("read:case")
                ? [
                    {
                      name: "Notifications",
                      icon: <Bell size={14} aria-hidden />,
                      run: () => void navigate({ to: "/notifications" }),
                    },
                  ]
                : []),
              { name: "Change the password", icon: <KeyRound size={14} aria-hidden />, run: () => setOpen("password") },
              {
                name: "Two-factor authentication",
                icon: <ShieldCheck size={14} aria-hidden />,
                run: () => setOpen("security"),
              },
              { name: "Sign out everywhere", icon: <MonitorX size={14} aria-hidden />, run: () => setOpen("everywhere") },
              { name: "Sign out", icon: <LogOut size={14} aria-hidden />, run: out },
            ],
          },
        ]}
      />
      <Suspense>
        {open === "password" && <PasswordDialog onClose={() => setOpen(null)} />}
        {open === "security" && <SecurityDialog onClose={() => setOpen(null)} />}
        {open === "everywhere" && <SignOutDialog onClose={() => setOpen(null)} />}
      </Suspense>
    </>
  );
}
