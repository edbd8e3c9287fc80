import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import { actionsOf, useBindings } from "../keys/keys.ts";
import { Kbd } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { inputLook } from "../parts/Field.tsx";
import { navigation } from "../screens.ts";
import { ResultList, choiceOf, useChoices, type Choice, type ChoiceGroup } from "../search/ResultList.tsx";
import { useOpenTarget, useSearch } from "../search/useSearch.ts";
import { searchWords } from "../search/words.ts";
import { useWorkspace } from "../session/workspace.tsx";
import { useOpenView, useViews } from "../views/views.ts";
import { visible } from "../parts/visible.ts";
import { chooseTheme } from "./theme.ts";

const commandsShownMax = 4;
const placeholder = "Account, e-mail, address, device, order, payee, case id, reason, note, screen or action";

// Finds everything: commands by name, and what the tenant has by a part of it. Commands come first, because they are there at once:
// what arrives later never moves what somebody is about to choose.
export function Palette({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }) {
  const [text, setText] = useState("");
  const listId = useId();
  const commands = useCommands(text.trim(), onKeys);
  const open = useOpenTarget();
  const searching = useSearch(text);
  const found = searching.groups.map((group): ChoiceGroup => ({
    ...group,
    choices: group.hits.map((hit) => choiceOf(hit, () => open(hit.target))),
  }));
  const groups = [{ name: "Commands", choices: commands }, ...found].filter(({ choices }) => choices.length > 0);
  const isSettled = searching.isSettled || commands.length > 0;
  const { chosen, choices, setAt, press, typed } = useChoices(groups, { isSettled, run });

  function run(choice: Choice): void {
    onClose();
    // Wait until the dialog is gone, so a command that opens another one does not have it closed at once.
    setTimeout(choice.run);
  }

  const isSearched = text.trim() !== "";
  return (
    <Dialog title="Find anything" onClose={onClose} width="wide">
      <input
        data-first-focus=""
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={choices.length > 0 ? `${listId}-${chosen}` : undefined}
        aria-label={placeholder}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        maxLength={512}
        className={inputLook}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          typed();
        }}
        onKeyDown={press}
      />
      <p role="status" className="mt-1.5 h-4 px-2 text-xs text-soft">
        {isSearched ? searchWords(text, searching, choices.length) : ""}
      </p>
      <ResultList
        id={listId}
        groups={groups}
        chosen={chosen}
        look="mt-1.5 h-96 max-h-[60vh] overflow-y-auto"
        onPoint={setAt}
        onRun={run}
      />
    </Dialog>
  );
}

function useCommands(text: string, onKeys: () => void): Choice[] {
  const navigate = useNavigate();
  const { may } = useWorkspace();
  const bindings = useBindings();
  const screens = navigation
    .filter(({ scope }) => scope === undefined || may(scope))
    .map(({ name, path }): Choice => ({ key: path, title: `Go to ${name}`, run: () => void navigate({ to: path }) }));
  const offered = bindings.filter(
    ({ isOff, key, group }) => isOff !== true && key !== "mod+k" && key !== "?" && group !== "Views",
  );
  const actions = actionsOf(offered).map(([{ name, run }, [key]]): Choice => ({
    key: `key ${name}`,
    title: name,
    run,
    marks: <Kbd>{key}</Kbd>,
  }));
  const openView = useOpenView();
  // Also those without a key.
  const views = useViews().map((view): Choice => ({
    key: view.view_id,
    title: `Open the view ${visible(view.name)}`,
    run: () => openView(view),
    ...(view.key !== undefined && { marks: <Kbd>G {view.key}</Kbd> }),
  }));
  const own: Choice[] = [
    { key: "shortcuts", title: "Show keyboard shortcuts", run: onKeys },
    { key: "light", title: "Use the light theme", run: () => chooseTheme("light") },
    { key: "dark", title: "Use the dark theme", run: () => chooseTheme("dark") },
    { key: "system", title: "Use the system theme", run: () => chooseTheme("system") },
  ];
  const all = [...screens, ...actions, ...views, ...own];
  if (text === "") return all;
  // A command is meant if each word of the text begins a word of its name.
  const words = text.toLowerCase().split(/\s+/);
  const isMeant = ({ title }: Choice) => {
    const parts = title.toLowerCase().split(/\s+/);
    return words.every((word) => parts.some((part) => part.startsWith(word)));
  };
  return all.filter(isMeant).slice(0, commandsShownMax);
}
