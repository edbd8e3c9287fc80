import type { View } from "@casehound/client";
import { ChevronDown, Plus, Settings2 } from "lucide-react";
import { Suspense, lazy, useMemo, useState } from "react";
import { useKeys, type Binding } from "../keys/keys.ts";
import { Button } from "../parts/Button.tsx";
import { Menu } from "../parts/Menu.tsx";
import { visible } from "../parts/visible.ts";
import type { QueueFilter } from "../screens/queue/search.ts";
import { useWorkspace } from "../session/workspace.tsx";
import { ViewDialog } from "./ViewDialog.tsx";
import { isShowing, useOpenView, useViewCounts, useViews } from "./views.ts";

const ManageDialog = lazy(async () => ({ default: (await import("./ManageDialog.tsx")).ManageDialog }));

type Open = { what: "manage" } | { what: "view"; view: View | null } | null;

// Saved views of the queue: open one, save what the queue shows now, change them.
export function ViewsMenu({ filter }: { filter: QueueFilter }) {
  const { may } = useWorkspace();
  const [open, setOpen] = useState<Open>(null);
  const views = useViews();
  const wordsOf = useViewCounts();
  const openView = useOpenView();
  const maySave = may("update:views");
  useKeys(
    useMemo<Binding[]>(() => {
      const run = () => setOpen({ what: "view", view: null });
      return [{ key: "v", name: "Save as a view", group: "The queue", isOff: !maySave, run }];
    }, [maySave]),
  );
  if (!may("read:cases")) return null;

  const itemOf = (view: View) => {
    const count = wordsOf(view.view_id);
    const name = `${visible(view.name)}${count === undefined ? "" : ` (${count})`}`;
    return { id: view.view_id, name, isChosen: isShowing(view, filter), run: () => openView(view) };
  };
  const groups = [
    { title: "Your views", items: views.filter(({ is_own: isOwn }) => isOwn).map(itemOf) },
    { title: "Shared by others", items: views.filter(({ is_own: isOwn }) => !isOwn).map(itemOf) },
    {
      items: [
        ...(maySave
          ? [{ name: "Save as a view", icon: <Plus size={14} aria-hidden />, run: () => setOpen({ what: "view", view: null }) }]
          : []),
        { name: "Manage views", icon: <Settings2 size={14} aria-hidden />, run: () => setOpen({ what: "manage" }) },
      ],
    },
  ].filter(({ items }) => items.length > 0);
  return (
    <>
      <Menu
        name="Views"
        trigger={
          <Button look="quiet" className="mx-1 h-7 shrink-0 px-2 text-xs">
            Views
            <ChevronDown size={14} aria-hidden />
          </Button>
        }
        groups={groups}
      />
      {open?.what === "view" && <ViewDialog view={open.view} filter={filter} onClose={() => setOpen(null)} />}
      <Suspense fallback={null}>
        {open?.what === "manage" && (
          <ManageDialog onEdit={(view) => setOpen({ what: "view", view })} onClose={() => setOpen(null)} />
        )}
      </Suspense>
    </>
  );
}
