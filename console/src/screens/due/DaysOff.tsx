import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { inputLook } from "../../parts/Field.tsx";

type Props = { days: string[]; isOff: boolean; onDays: (days: string[]) => void };

const daysMax = 100;
const dayWords = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const dayName = (day: string) => dayWords.format(new Date(day));

export function DaysOff({ days, isOff, onDays }: Props) {
  const id = useId();
  const [day, setDay] = useState("");
  const isAddable = day !== "" && !days.includes(day) && days.length < daysMax;
  function add(): void {
    if (!isAddable) return;
    onDays([...days, day].toSorted());
    setDay("");
  }
  return (
    <section aria-labelledby={`${id}-title`} className="mt-5 grid gap-3 border-t border-line pt-4">
      <h3 id={`${id}-title`} className="text-sm font-medium">
        Days off
      </h3>
      {days.length === 0 ? (
        <p className="text-soft">No days off. Add public holidays, so that they do not count as working days.</p>
      ) : (
        <ul aria-label="Days off" className="flex flex-wrap gap-2">
          {days.map((each) => (
            <li key={each} className="flex h-7 items-center gap-1 rounded-md bg-sunken pr-1 pl-2">
              <time dateTime={each}>{dayName(each)}</time>
              {!isOff && (
                <button
                  type="button"
                  aria-label={`Remove ${dayName(each)}`}
                  className="grid size-6 place-items-center rounded text-soft hover:text-ink"
                  onClick={() => onDays(days.filter((other) => other !== each))}
                >
                  <X size={14} aria-hidden />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {!isOff && (
        <div className="flex items-center gap-2">
          <label htmlFor={id}>Date</label>
          <input
            id={id}
            type="date"
            className={`${inputLook} !w-40`}
            value={day}
            onChange={({ target }) => setDay(target.value)}
            onKeyDown={({ key }) => key === "Enter" && add()}
          />
          <Button disabled={!isAddable} onClick={add}>
            <Plus size={15} aria-hidden /> Add
          </Button>
        </div>
      )}
    </section>
  );
}
