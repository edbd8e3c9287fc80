import { useNavigate } from "@tanstack/react-router";
import { useId, useState, type KeyboardEvent, type ReactNode } from "react";
import { useBindings } from "../keys/keys.ts";
import { Kbd } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { inputLook } from "../parts/Field.tsx";
import { navigation } from "../screens.ts";
import { useWorkspace } from "../session/workspace.tsx";
import { chooseTheme } from "./theme.ts";

type Command = { name: string; hint?: ReactNode; run: () => void };

const casePattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

// Finds every command by name: screens, the screen's own keys, a case by its id, an account's cases.
export function Palette({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const listId = useId();
  const commands = useCommands(text.trim(), onKeys);
  const chosen = Math.min(at, commands.length - 1);

  function run(command: Command | undefined): void {
    if (!command) return;
    onClose();
    // Wait until the dialog is gone, so a command that opens another one does not have it closed at once.
    setTimeout(command.run);
  }

  function press(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt(Math.max(0, Math.min(commands.length - 1, chosen + step)));
    if (event.key === "Enter") run(commands[chosen]);
    if (step !== 0 || event.key === "Enter") event.preventDefault();
  }

  return (
    <Dialog title="Find anything" onClose={onClose}>
      <input
        data-first-focus=""
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={`${listId}-${chosen}`}
        aria-label="Screen, action, case id or account id"
        placeholder="Screen, action, case id or account id"
        className={inputLook}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul id={listId} role="listbox" aria-label="Results" className="mt-3 grid h-80 content-start gap-0.5 overflow-y-auto">
        {commands.map((command, index) => (
          <li
            key={command.name}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === chosen}
            className={`flex h-8 cursor-default items-center justify-between rounded px-2 ${index === chosen ? "bg-chosen" : ""}`}
            onMouseMove={() => setAt(index)}
            onClick={() => run(command)}
          >
            <span className="truncate">{command.name}</span>
            {command.hint}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function useCommands(text: string, onKeys: () => void): Command[] {
  const navigate = useNavigate();
  const { may } = useWorkspace();
  const bindings = useBindings();
  const screens = navigation
    .filter(({ scope }) => scope === undefined || may(scope))
    .map(({ name, path }): Command => ({ name: `Go to ${name}`, run: () => void navigate({ to: path }) }));
  const actions = bindings
    .filter(({ isOff, key }) => isOff !== true && key !== "mod+k" && key !== "?")
    .map(({ name, key, shown, run }): Command => ({
      name,
      run,
      hint: <Kbd>{shown ?? (key.length === 1 ? key.toUpperCase() : key)}</Kbd>,
    }));
  const own: Command[] = [
    { name: "Show keyboard shortcuts", run: onKeys },
    { name: "Use the light theme", run: () => chooseTheme("light") },
    { name: "Use the dark theme", run: () => chooseTheme("dark") },
    { name: "Use the system theme", run: () => chooseTheme("system") },
  ];
  const named = [...screens, ...actions, ...own].filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  if (text === "") return named;
  const open: Command = {
    name: `Open case ${text}`,
    run: () => void navigate({ to: "/cases/$caseId", params: { caseId: text } }),
  };
  const accounts: Command[] = [
    {
      name: `Open account ${text}`,
      run: () => void navigate({ to: "/accounts/$accountId", params: { accountId: text } }),
    },
    { name: `Cases of account ${text}`, run: () => void navigate({ to: "/", search: { account: text } }) },
  ];
  return casePattern.test(text) ? [open, ...accounts, ...named] : [...named, ...accounts];
}
