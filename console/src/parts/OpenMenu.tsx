import * as Radix from "@radix-ui/react-dropdown-menu";
import { Check } from "lucide-react";
import type { ReactNode } from "react";

const itemLook =
  "flex h-8 w-full cursor-default items-center gap-2 rounded px-2 text-sm outline-none select-none data-[highlighted]:bg-hover";

// `id`: for items whose names may be equal.
type MenuItem = { id?: string; name: string; run: () => void; isChosen?: boolean; icon?: ReactNode };

export type MenuProps = { trigger: ReactNode; name: string; groups: { title?: string; items: MenuItem[] }[] };

// A button with a list below it. It is not modal, because a modal one adds a style element, which the content security policy
// rejects.
export function OpenMenu({ trigger, name, groups, isOpen }: MenuProps & { isOpen: boolean }) {
  return (
    <Radix.Root modal={false} defaultOpen={isOpen}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal container={document.getElementById("screen")}>
        <Radix.Content
          align="start"
          sideOffset={6}
          aria-label={name}
          className="z-30 max-h-(--radix-dropdown-menu-content-available-height) max-w-[calc(100vw-1rem)] min-w-52 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-float"
        >
          {groups.map(({ title, items }, index) => (
            <Radix.Group key={title ?? index} className={index > 0 ? "mt-1 border-t border-line pt-1" : ""}>
              {title !== undefined && <Radix.Label className="px-2 py-1 text-xs text-faint">{title}</Radix.Label>}
              {items.map((item) => (
                <Radix.Item key={item.id ?? item.name} className={itemLook} onSelect={item.run}>
                  <span className="grid w-4 shrink-0 place-items-center text-faint">
                    {item.icon ?? (item.isChosen === true && <Check size={14} aria-label="chosen" />)}
                  </span>
                  <span className="min-w-0 truncate">{item.name}</span>
                  {item.icon !== undefined && item.isChosen === true && (
                    <Check size={14} className="ml-auto" aria-label="chosen" />
                  )}
                </Radix.Item>
              ))}
            </Radix.Group>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
