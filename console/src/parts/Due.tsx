import { AlarmClock, AlarmClockOff } from "lucide-react";
import { Age, Until, useNow } from "./Time.tsx";

type Props = { at: string | undefined; status: string; isShort?: boolean };

// By when an open case should be decided. Overdue is said in words and by another icon, not by colour alone.
export function DueMark({ at, status, isShort = false }: Props) {
  const now = useNow();
  if (at === undefined || status !== "OPEN") return null;
  const isOverdue = Date.parse(at) <= now;
  const look = isOverdue ? "bg-bad-soft text-bad" : "bg-sunken text-soft";
  const Icon = isOverdue ? AlarmClockOff : AlarmClock;
  return (
    <span className={`inline-flex h-5 shrink-0 items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap ${look}`}>
      <Icon size={13} aria-hidden />
      <span className={isShort && !isOverdue ? "max-2xl:sr-only" : ""}>{isOverdue ? "Overdue" : "Due"}</span>
      {isOverdue ? <Age at={at} /> : <Until at={at} />}
    </span>
  );
}
