import { UsageFault, type Command, type Outcome } from "./command.ts";

const shells = ["bash", "zsh"] as const;

type Words = { commands: string[]; options: Map<string, string[]>; values: Map<string, readonly string[]> };

function wordsOf(commands: Command[]): Words {
  const options = new Map(
    commands.map(({ name, options: own }) => [name, [...Object.keys(own), "json", "help"].map((each) => `--${each}`)]),
  );
  const all = commands.flatMap(({ options: own }) => Object.entries(own));
  const values = new Map(all.flatMap(([name, option]) => (option.values ? [[`--${name}`, option.values] as const] : [])));
  return { commands: commands.map(({ name }) => name), options, values };
}

// Completes the first word, the second if there is one, then the command's options and their values. Everything else completes as
// file names.
function bashScript({ commands, options, values }: Words): string {
  const first = [...new Set(commands.map((name) => name.split(" ")[0] ?? ""))];
  const seconds = first.flatMap((word) => {
    const further = nextWords(commands, `${word} `);
    return further.length === 0 ? [] : [`    ${word}) words="${further.join(" ")}" ;;`];
  });
  const cases = [...withThirds(options)].map(([name, own]) => `    "${name}") words="${own.join(" ")}" ;;`);
  const known = [...values].map(([name, given]) => `    ${name}) words="${given.join(" ")}" ;;`);
  return `# casehound completion for bash: eval "$(casehound completion bash)"
_casehound() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${first.join(" ")} --help"
  elif [ "$COMP_CWORD" -eq 2 ] && [[ "$current" != -* ]]; then
    case "\${COMP_WORDS[1]}" in
${seconds.join("\n")}
    esac
  else
    case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${cases.filter((line) => /^ {4}"\S+ \S+"/.test(line)).join("\n")}
    *) case "\${COMP_WORDS[1]}" in
${cases.filter((line) => /^ {4}"\S+"\)/.test(line)).join("\n")}
    esac ;;
    esac
  fi
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${known.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _casehound casehound ./casehound
`;
}

function nextWords(commands: string[], start: string): string[] {
  return [...new Set(commands.flatMap((name) => (name.startsWith(start) ? (name.slice(start.length).split(" ")[0] ?? []) : [])))];
}

// After the first two words of commands that have three: their third words, and the options of all of them.
function withThirds(options: Map<string, string[]>): Map<string, string[]> {
  const shown = new Map<string, string[]>();
  for (const [name, own] of options) {
    const [first, second, third] = name.split(" ");
    const start = third === undefined ? name : `${first} ${second}`;
    shown.set(start, [...new Set([...(shown.get(start) ?? []), ...(third === undefined ? [] : [third]), ...own])]);
  }
  return shown;
}

// zsh can use bash completions once bashcompinit is loaded.
function zshScript(words: Words): string {
  return `# casehound completion for zsh: eval "$(casehound completion zsh)"
autoload -U +X compinit && compinit -u
autoload -U +X bashcompinit && bashcompinit
${bashScript(words)}`;
}

export function completionCommand(others: () => Promise<Command[]>): Command {
  return {
    name: "completion",
    usage: `completion ${shells.join("|")}`,
    summary: "prints a shell script that completes commands",
    positionals: { min: 1, max: 1 },
    options: {},
    wants: null,
    run: async ({ positionals }): Promise<Outcome> => {
      const shell = shells.find((each) => each === positionals[0]);
      if (shell === undefined) throw new UsageFault(`completion supports ${shells.join(" and ")}`);
      const words = wordsOf(await others());
      const script = shell === "bash" ? bashScript(words) : zshScript(words);
      return { result: { shell, script }, text: script };
    },
  };
}
