import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useMemo, type ReactNode } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { Kbd } from "../../parts/Button.tsx";
import { intoView } from "../../parts/into-view.ts";
import { NotAvailable } from "../../parts/NotAvailable.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { ClosingTab } from "../closing/ClosingTab.tsx";
import { DueTab } from "../due/DueTab.tsx";
import { ListsTab } from "../lists/ListsTab.tsx";
import { ModelsTab } from "../models/ModelsTab.tsx";
import { PolicyTab } from "../policy/PolicyTab.tsx";
import { QuietTab } from "../quiet/QuietTab.tsx";
import { NotAccepted } from "./NotAccepted.tsx";
import { RuleList } from "./RuleList.tsx";
import { ThresholdsTab } from "./ThresholdsTab.tsx";
import type { Tab } from "./address.ts";

const tabs: { tab: Tab | undefined; name: string }[] = [
  { tab: undefined, name: "Rules" },
  { tab: "lists", name: "Lists" },
  { tab: "thresholds", name: "Thresholds" },
  { tab: "policy", name: "Policy" },
  { tab: "due", name: "Due times" },
  { tab: "quiet", name: "Quiet" },
  { tab: "models", name: "Models" },
  { tab: "closing", name: "Closing" },
  { tab: "not-accepted", name: "Not accepted" },
];

export function DetectionScreen() {
  const { tab } = useSearch({ from: "/inside/detection" });
  return (
    <div className="flex h-full flex-col">
      <Header tab={tab} />
      <div className="min-h-0 flex-1 overflow-y-auto">
        {tab === undefined && (
          <Allowed scope="read:rules">
            <RuleList />
          </Allowed>
        )}
        {tab === "lists" && (
          <Allowed scope="read:lists">
            <ListsTab />
          </Allowed>
        )}
        {tab === "thresholds" && (
          <Allowed scope="read:rules">
            <ThresholdsTab />
          </Allowed>
        )}
        {tab === "policy" && (
          <Allowed scope="read:rules">
            <PolicyTab />
          </Allowed>
        )}
        {tab === "due" && (
          <Allowed scope="read:tenant">
            <DueTab />
          </Allowed>
        )}
        {tab === "quiet" && (
          <Allowed scope="read:cases">
            <QuietTab />
          </Allowed>
        )}
        {tab === "models" && (
          <Allowed scope="read:models">
            <ModelsTab />
          </Allowed>
        )}
        {tab === "closing" && (
          <Allowed scope="read:case">
            <ClosingTab />
          </Allowed>
        )}
        {tab === "not-accepted" && (
          <Allowed scope="read:metrics">
            <NotAccepted />
          </Allowed>
        )}
      </div>
    </div>
  );
}

export function Allowed({ scope, children }: { scope: string; children: ReactNode }) {
  const { may } = useWorkspace();
  if (may(scope)) return children;
  return <NotAvailable what="This part of detection" />;
}

function Header({ tab }: { tab: Tab | undefined }) {
  const { may } = useWorkspace();
  const navigate = useNavigate();
  const mayManage = may("manage:rules");
  const keys = useMemo<Binding[]>(
    () => [
      {
        key: "n",
        name: "New rule",
        group: "Detection",
        isOff: !mayManage,
        run: () => void navigate({ to: "/detection/new-rule" }),
      },
    ],
    [mayManage, navigate],
  );
  useKeys(keys);
  return (
    <header className="flex shrink-0 items-center gap-2 border-b border-line bg-surface">
      <h1 className="sr-only">Detection</h1>
      <nav aria-label="Detection" className="flex min-w-0 flex-1 gap-1 overflow-x-auto px-3">
        {tabs.map((each) => (
          <Link
            key={each.name}
            to="/detection"
            search={each.tab ? { tab: each.tab } : {}}
            ref={each.tab === tab ? intoView : null}
            aria-current={each.tab === tab ? "page" : undefined}
            className={`flex h-11 shrink-0 items-center border-b-2 px-2 text-sm whitespace-nowrap outline-offset-[-2px] ${each.tab === tab ? "border-accent font-semibold text-ink" : "border-transparent text-soft hover:text-ink"}`}
          >
            {each.name}
          </Link>
        ))}
      </nav>
      {mayManage && tab === undefined && (
        <Link
          to="/detection/new-rule"
          className="mr-4 inline-flex h-8 items-center gap-1.5 rounded-md border border-accent bg-accent px-3 text-sm font-medium text-accent-ink hover:opacity-90"
        >
          <Plus size={15} aria-hidden /> <span className="whitespace-nowrap max-sm:sr-only">New rule</span>
          <span className="max-sm:hidden">
            <Kbd>N</Kbd>
          </span>
        </Link>
      )}
    </header>
  );
}
