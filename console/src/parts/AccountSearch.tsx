import { useRef, type FormEvent, type RefObject } from "react";

type Props = { name: string; input: RefObject<HTMLInputElement | null>; onAccount: (id: string) => void };

// Takes an account id. After submitting, the field is cleared and loses the focus, so keys go to the list again.
export function AccountSearch({ name, input, onAccount }: Props) {
  const form = useRef<HTMLFormElement>(null);

  function submit(event: FormEvent): void {
    event.preventDefault();
    const given = input.current?.value.trim() ?? "";
    if (given !== "") onAccount(given);
    form.current?.reset();
    input.current?.blur();
  }

  return (
    <form ref={form} onSubmit={submit} role="search">
      <input
        ref={input}
        type="search"
        aria-label={name}
        placeholder="Account id"
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        className="h-7 w-36 rounded-full border border-edge bg-surface px-3 text-xs"
      />
    </form>
  );
}
