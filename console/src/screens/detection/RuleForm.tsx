import { labels, ruleStates } from "@casehound/client";
import { useId, type ReactNode, type RefObject } from "react";
import { Alert, Field, inputLook } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Section } from "../case/Section.tsx";
import { WeightMeaning, aboutWords } from "./Definition.tsx";
import { MarkedText } from "./MarkedText.tsx";
import { NumberField } from "./NumberField.tsx";
import { stateFacts } from "./StateMark.tsx";
import { ListCompletion } from "./ListCompletion.tsx";
import { faultOf } from "./fault.ts";
import type { Drafting } from "./useRuleDraft.ts";

export type Areas = Record<"expression" | "sentence", RefObject<HTMLTextAreaElement | null>>;

type Props = { drafting: Drafting; isNew: boolean; areas: Areas; onTarget: (target: keyof Areas) => void };

export function RuleForm({ drafting, isNew, areas, onTarget }: Props) {
  const { draft, trouble, change, rename } = drafting;
  const { wanted } = draft;
  const errorOf = (field: string) => trouble.errors.find((each) => each.field === field)?.message;
  const own = new Set(["rule_id", "name", "expression", "sentence", "weight"]);
  const others = trouble.errors.filter(({ field }) => !own.has(field)).map(({ field, message }) => `${field} ${message}`);
  const isTold = trouble.words !== null && trouble.errors.length === 0;
  return (
    <Section title="Definition" aside={<GuideLink page="rules-and-backtests#a-rule" about="rules" />}>
      <div className="grid gap-4">
        {(isTold || others.length > 0) && (
          <Alert>Not saved: {isTold ? trouble.words : others.join("; ")}. Your draft is kept.</Alert>
        )}
        <div className={`grid gap-4 ${isNew ? "grid-cols-2 max-sm:grid-cols-1" : ""}`}>
          <Field
            name="name"
            label="Name"
            maxLength={100}
            value={wanted.name}
            data-first-focus=""
            onChange={(event) => change({ name: event.target.value })}
            hint={<Hint error={errorOf("name")}>A few words. Cases show it as a reason.</Hint>}
          />
          {isNew && (
            <Field
              name="rule_id"
              label="Id"
              maxLength={64}
              spellCheck={false}
              value={draft.rule_id}
              onChange={(event) => rename(event.target.value)}
              hint={<Hint error={errorOf("rule_id")}>a-z, 0-9 and _. Cannot be changed later.</Hint>}
            />
          )}
        </div>
        <Texts drafting={drafting} areas={areas} onTarget={onTarget} />
        <Facts drafting={drafting} error={errorOf("weight")} />
        <StateChoice drafting={drafting} />
      </div>
    </Section>
  );
}

function Texts({ drafting: { draft, trouble, change }, areas, onTarget }: Omit<Props, "isNew">) {
  const { wanted } = draft;
  return (
    <>
      <MarkedText
        label="Expression"
        isCode
        maxLength={2000}
        value={wanted.expression}
        fault={faultOf(trouble.errors, "expression", wanted.expression)}
        area={areas.expression}
        onFocus={() => onTarget("expression")}
        onChange={(expression) => change({ expression })}
        below={
          <ListCompletion area={areas.expression} text={wanted.expression} onText={(expression) => change({ expression })} />
        }
        hint='CEL: true means suspicious. For example event.type == "login_failed" && device.failed_accounts_1h >= 8'
      />
      <MarkedText
        label="Sentence"
        maxLength={500}
        value={wanted.sentence}
        fault={faultOf(trouble.errors, "sentence", wanted.sentence)}
        area={areas.sentence}
        onFocus={() => onTarget("sentence")}
        onChange={(sentence) => change({ sentence })}
        hint="What investigators read. {device.accounts_1h} is replaced by the field's value."
      />
    </>
  );
}

function Facts({ drafting: { draft, change }, error }: { drafting: Drafting; error: string | undefined }) {
  const { wanted } = draft;
  return (
    <div className="grid grid-cols-3 gap-4 max-sm:grid-cols-1">
      <Choice
        label="Label"
        value={wanted.label}
        options={labels.map((each) => [each, each])}
        onChoice={(label) => change({ label })}
      />
      <NumberField
        label="Weight"
        min={0.1}
        max={10}
        value={wanted.weight}
        onValue={(weight) => change({ weight })}
        error={error}
        hint={<WeightMeaning weight={wanted.weight} />}
      />
      <Choice
        label="Failed log-ins and sign-ups open a case about"
        value={wanted.about}
        options={(Object.keys(aboutWords) as (keyof typeof aboutWords)[]).map((each) => [each, `its ${each}`])}
        onChoice={(about) => change({ about })}
        hint={`The case is about ${aboutWords[wanted.about]}.`}
      />
    </div>
  );
}

function Hint({ error, children }: { error: string | undefined; children: ReactNode }) {
  return error === undefined ? children : <span className="text-bad">{error}</span>;
}

type ChoiceProps<T extends string> = {
  label: string;
  value: T;
  options: (readonly [T, string])[];
  onChoice: (value: T) => void;
  hint?: string;
};

function Choice<T extends string>({ label, value, options, onChoice, hint }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <select
        id={id}
        className={inputLook}
        value={value}
        onChange={(event) => {
          const [chosen] = options.find(([each]) => each === event.target.value) ?? [];
          if (chosen !== undefined) onChoice(chosen);
        }}
      >
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
      {hint !== undefined && <p className="text-xs text-soft">{hint}</p>}
    </div>
  );
}

function StateChoice({ drafting: { draft, change } }: { drafting: Drafting }) {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">State</legend>
      <div className="grid grid-cols-3 gap-3 max-sm:grid-cols-1">
        {ruleStates.map((state) => (
          <label
            key={state}
            className="flex gap-2.5 rounded-md border border-edge/50 p-2.5 has-[:checked]:border-accent has-[:checked]:bg-accent-soft"
          >
            <input
              type="radio"
              name={name}
              className="mt-0.5 accent-accent"
              checked={draft.wanted.state === state}
              onChange={() => change({ state })}
            />
            <span>
              <span className="block font-medium">{stateFacts[state].name}</span>
              <span className="block text-xs text-soft">{stateFacts[state].meaning}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
