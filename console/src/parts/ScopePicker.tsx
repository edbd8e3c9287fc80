type Props<S extends string> = {
  offered: readonly S[];
  words: Record<S, string>;
  chosen: ReadonlySet<S>;
  onChange: (chosen: ReadonlySet<S>) => void;
  isBusy: boolean;
};

export function ScopePicker<S extends string>({ offered, words, chosen, onChange, isBusy }: Props<S>) {
  const toggle = (scope: S) => {
    const next = new Set(chosen);
    if (!next.delete(scope)) next.add(scope);
    onChange(next);
  };
  return (
    <fieldset className="grid grid-cols-2 gap-x-6 gap-y-1 max-sm:grid-cols-1" disabled={isBusy}>
      <legend className="mb-2 text-sm font-medium">Scopes</legend>
      {offered.map((scope) => (
        <label key={scope} className="flex items-start gap-2 rounded px-1 py-1 hover:bg-hover">
          <input
            type="checkbox"
            className="mt-0.5 size-4 shrink-0 accent-accent"
            checked={chosen.has(scope)}
            onChange={() => toggle(scope)}
          />
          <span className="min-w-0">
            <span className="block text-sm">{words[scope]}</span>
            <span className="block font-mono text-xs text-faint">{scope}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
