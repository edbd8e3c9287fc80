import { actionsOf, useBindings, useLetters } from "../keys/keys.ts";
import { Kbd } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const bindings = useBindings();
  const [areLettersOn, chooseLetters] = useLetters();
  const groups = Object.entries(Object.groupBy(bindings, ({ group }) => group));
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} width="wide">
      <div className="columns-2 gap-8 max-sm:columns-1">
        {groups.map(([group, own = []]) => (
          <section key={group} className="mb-5 break-inside-avoid">
            <h3 className="mb-1 text-xs font-semibold text-faint">{group}</h3>
            <dl>
              {actionsOf(own).map(([{ name }, keys]) => (
                <div key={name} className="flex items-center justify-between gap-3 border-b border-line py-1 last:border-0">
                  <dt>{name}</dt>
                  <dd className="flex gap-1">
                    {keys.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label className="flex items-center gap-2 border-t border-line pt-4">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={areLettersOn}
          onChange={(event) => chooseLetters(event.target.checked)}
        />
        Use single letters and digits as shortcuts
      </label>
    </Dialog>
  );
}
