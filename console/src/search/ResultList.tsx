import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { Hit } from "./hits.tsx";

// A row of the list: a hit, or a command with its key.
export type Choice = { key: string; title: string; detail?: string; icon?: ReactNode; marks?: ReactNode; run: () => void };
export type ChoiceGroup = { name: string; choices: Choice[]; hasMore?: boolean };

export function choiceOf(hit: Hit, run: () => void): Choice {
  return { ...hit, run };
}

// What a combobox and its list share. Enter that comes before the answer waits for it and then runs the first choice.
export function useChoices(groups: ChoiceGroup[], { isSettled, run }: { isSettled: boolean; run: (choice: Choice) => void }) {
  const [at, setAt] = useState(0);
  const [isWaiting, setIsWaiting] = useState(false);
  const choices = groups.flatMap((group) => group.choices);
  const chosen = Math.min(at, choices.length - 1);
  const [first] = choices;
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    if (!isWaiting || !isSettled) return;
    setIsWaiting(false);
    if (first) latest.current(first);
  }, [isWaiting, isSettled, first]);

  function press(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt(Math.max(0, Math.min(choices.length - 1, chosen + step)));
    if (event.key === "Enter") {
      const choice = choices[chosen];
      if (choice && (isSettled || at > 0)) run(choice);
      else if (!isSettled) setIsWaiting(true);
    }
    if (step !== 0 || event.key === "Enter") event.preventDefault();
  }

  const typed = () => {
    setAt(0);
    setIsWaiting(false);
  };
  return { chosen, choices, setAt, press, typed };
}

type Props = {
  id: string;
  groups: ChoiceGroup[];
  chosen: number;
  look: string;
  onPoint: (index: number) => void;
  onRun: (choice: Choice) => void;
};

export function ResultList({ id, groups, chosen, look, onPoint, onRun }: Props) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  let index = -1;
  return (
    <div ref={list} id={id} role="listbox" aria-label="Results" className={`@container ${look}`}>
      {groups.map(({ name, choices, hasMore }) => (
        <div key={name} role="group" aria-label={name} className="not-first:mt-2">
          <div aria-hidden className="flex justify-between px-2 pb-0.5 text-xs font-medium text-faint">
            {name}
            {hasMore === true && <span>Type more to see the rest</span>}
          </div>
          {choices.map((choice) => {
            const place = ++index;
            return (
              <Row
                key={choice.key}
                id={`${id}-${place}`}
                choice={choice}
                isChosen={place === chosen}
                onPoint={() => onPoint(place)}
                onRun={() => onRun(choice)}
              />
            );
          })}
        </div>
      ))}
    </div>
  );
}

type RowProps = { id: string; choice: Choice; isChosen: boolean; onPoint: () => void; onRun: () => void };

function Row({ id, choice: { title, detail = "", icon, marks }, isChosen, onPoint, onRun }: RowProps) {
  return (
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      className={`flex h-8 cursor-default items-center gap-2 rounded px-2 ${isChosen ? "bg-chosen" : ""}`}
      onMouseMove={onPoint}
      // The input keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onRun}
    >
      {icon !== undefined && <span className="shrink-0 text-faint">{icon}</span>}
      <bdi className="max-w-[70%] min-w-0 truncate" title={title}>
        {title}
      </bdi>
      <bdi className="min-w-0 flex-1 basis-0 truncate text-xs text-soft" title={detail}>
        {detail}
      </bdi>
      {marks !== undefined && <span className="flex shrink-0 items-center gap-1.5">{marks}</span>}
    </div>
  );
}
