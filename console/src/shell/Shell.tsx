import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { BookOpen, Keyboard, Search } from "lucide-react";
import { Suspense, lazy, useMemo, useState } from "react";
import { useKeys, type Binding } from "../keys/keys.ts";
import { Kbd } from "../parts/Button.tsx";
import { Loading } from "../parts/States.tsx";
import { Toasts } from "../parts/Toasts.tsx";
import { guideOf, navigation } from "../screens.ts";
import { useWorkspace } from "../session/workspace.tsx";
import { SidebarViews } from "../views/SidebarViews.tsx";
import mark from "../style/hound.svg";
import { Palette } from "./Palette.tsx";
import { PersonMenu } from "./PersonMenu.tsx";
import { ScreenBoundary } from "./ScreenBoundary.tsx";
import { Unread, Waiting } from "./Unread.tsx";
import { UnsavedBanner } from "./UnsavedBanner.tsx";

const KeyHelp = lazy(async () => ({ default: (await import("./KeyHelp.tsx")).KeyHelp }));

type Open = "palette" | "keys" | null;

// The frame around every screen.
export function Shell() {
  const [open, setOpen] = useState<Open>(null);
  const navigate = useNavigate();
  const bindings = useMemo<Binding[]>(
    () => [
      { key: "mod+k", shown: "Ctrl K", name: "Find anything", group: "Everywhere", run: () => setOpen("palette") },
      { key: "i", name: "Open the inbox", group: "Everywhere", run: () => void navigate({ to: "/inbox" }) },
      { key: "?", name: "Show keyboard shortcuts", group: "Everywhere", run: () => setOpen("keys") },
    ],
    [navigate],
  );
  useKeys(bindings);
  return (
    <div className="on-paper flex h-full flex-col">
      <a href="#screen" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-raised focus:p-2">
        Skip to content
      </a>
      <UnsavedBanner />
      <div className="on-paper flex min-h-0 flex-1">
        <Sidebar onFind={() => setOpen("palette")} onKeys={() => setOpen("keys")} />
        <main id="screen" tabIndex={-1} className="on-paper min-w-0 flex-1 overflow-hidden outline-none">
          <ScreenBoundary>
            <Suspense fallback={<Loading />}>
              <Outlet />
            </Suspense>
          </ScreenBoundary>
        </main>
      </div>
      <Toasts />
      {open === "palette" && <Palette onClose={() => setOpen(null)} onKeys={() => setOpen("keys")} />}
      <Suspense>{open === "keys" && <KeyHelp onClose={() => setOpen(null)} />}</Suspense>
    </div>
  );
}

const itemLook =
  "relative flex h-8 w-full items-center gap-2.5 rounded-md px-2 text-sm text-soft hover:bg-hover hover:text-ink max-xl:justify-center";

function Sidebar({ onFind, onKeys }: { onFind: () => void; onKeys: () => void }) {
  const { session, may } = useWorkspace();
  const guide = useLocation({ select: ({ pathname }) => guideOf(pathname) });
  return (
    <aside className="no-print flex w-46 shrink-0 flex-col overflow-x-hidden overflow-y-auto border-r border-line bg-surface p-2.5 max-xl:w-14 max-xl:[scrollbar-width:none]">
      <div className="mb-3 flex h-9 shrink-0 items-center gap-2.5 px-1 max-xl:justify-center">
        <img src={mark} alt="" width={26} height={26} />
        <div className="min-w-0 leading-tight max-xl:hidden">
          <div className="font-semibold">Casehound</div>
          <div className="truncate text-xs text-faint" title={session.tenant.slug}>
            {session.tenant.slug}
          </div>
        </div>
      </div>
      <button
        type="button"
        onClick={onFind}
        className="mb-3 flex h-8 shrink-0 items-center gap-2 rounded-md border border-line bg-canvas px-2 text-sm text-faint hover:text-ink max-xl:justify-center"
      >
        <Search size={15} aria-hidden />
        <span className="flex-1 text-left max-xl:sr-only">Find</span>
        <span className="max-xl:hidden" aria-hidden>
          <Kbd>Ctrl K</Kbd>
        </span>
      </button>
      <nav aria-label="Screens" className="grid gap-0.5">
        {navigation
          .filter(({ scope }) => scope === undefined || may(scope))
          .map(({ path, name, Icon }) => (
            <Link
              key={path}
              to={path}
              title={name}
              activeOptions={{ exact: path === "/", includeSearch: false }}
              className={itemLook}
              activeProps={{ className: "bg-accent-soft !text-accent font-medium" }}
            >
              <Icon size={16} aria-hidden />
              <span className="max-xl:sr-only">{name}</span>
              {path === "/inbox" && <Unread />}
              {path === "/approvals" && <Waiting />}
            </Link>
          ))}
      </nav>
      <SidebarViews />
      <div className="mt-auto grid gap-0.5 pt-2">
        <a href={guide} target="_blank" rel="noreferrer" className={itemLook} title="Documentation for this screen">
          <BookOpen size={16} aria-hidden />
          <span className="max-xl:sr-only">Documentation</span>
        </a>
        <button type="button" className={itemLook} onClick={onKeys} title="Keyboard shortcuts">
          <Keyboard size={16} aria-hidden />
          <span className="max-xl:sr-only">Shortcuts</span>
        </button>
        <PersonMenu look={itemLook} />
      </div>
    </aside>
  );
}
