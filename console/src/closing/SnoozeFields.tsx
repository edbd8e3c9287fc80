import { unknownAccount, type Case, type CaseChange } from "@casehound/client";
import { inputLook } from "../parts/Field.tsx";

export type Snooze = NonNullable<CaseChange["snooze"]>;
type Scope = Snooze["scope"];

const daysOffered = [1, 7, 14, 30, 90];
const atFirst = 14;

const ofAccount: Record<Scope, string> = {
  device: "this account on the same device",
  address: "this account from the same address",
  payee: "this account paying the same payee",
  account: "this account anywhere",
};
const ownWords: Partial<Record<string, { scope: Scope; words: string }>> = {
  device: { scope: "device", words: "this device" },
  address: { scope: "address", words: "this address" },
  network: { scope: "address", words: "this network" },
  payee: { scope: "payee", words: "this payee" },
};

// What the rules of this case can be quiet about, narrowest first.
function offersOf({ website_account_id, details }: Case): { scope: Scope; words: string }[] {
  if (website_account_id !== unknownAccount)
    return (["device", "address", "payee", "account"] as const).map((scope) => ({ scope, words: ofAccount[scope] }));
  const own = ownWords[details.subject?.kind ?? ""];
  return own ? [own] : [];
}

type Props = { seen: Case; value: Snooze | null; onValue: (value: Snooze | null) => void; isDisabled: boolean };

// Shown when a case is closed as a false positive. Offers to make its rules quiet for some days.
export function SnoozeFields({ seen, value, onValue, isDisabled }: Props) {
  const offers = offersOf(seen);
  const [first] = offers;
  if (!first) return null;
  return (
    <fieldset disabled={isDisabled} className="mt-4 grid gap-2">
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-1 size-4 accent-accent"
          checked={value !== null}
          onChange={({ target }) => onValue(target.checked ? { days: atFirst, scope: first.scope } : null)}
        />
        <span>
          Snooze these rules
          <span className="block text-xs text-faint">
            The rules of this case stay quiet for a few days. Stronger evidence or a fraud report ends this early.
          </span>
        </span>
      </label>
      {value && (
        <div className="ml-6 flex flex-wrap items-center gap-2">
          <span>Quiet about</span>
          <select
            aria-label="Quiet about"
            className={`${inputLook} !h-8 !w-auto`}
            value={value.scope}
            onChange={({ target }) => {
              const chosen = offers.find(({ scope }) => scope === target.value);
              if (chosen) onValue({ ...value, scope: chosen.scope });
            }}
          >
            {offers.map(({ scope, words }) => (
              <option key={scope} value={scope}>
                {words}
              </option>
            ))}
          </select>
          <span>for</span>
          <select
            aria-label="How long"
            className={`${inputLook} !h-8 !w-auto`}
            value={value.days}
            onChange={({ target }) => onValue({ ...value, days: Number(target.value) })}
          >
            {daysOffered.map((days) => (
              <option key={days} value={days}>
                {days === 1 ? "1 day" : `${days} days`}
              </option>
            ))}
          </select>
          {value.scope === "account" && (
            <p className="w-full text-xs text-warn">
              The rules are then quiet for anybody who uses this account. Choose the device if you can.
            </p>
          )}
        </div>
      )}
    </fieldset>
  );
}
