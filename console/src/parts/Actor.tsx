const person = /^(.*\S)\s+<([^<>]+@[^<>]+)>$/;

// A person's name without the e-mail address, or what else the actor is called.
export function nameOfActor(actor: string): string {
  return person.exec(actor)?.[1] ?? (actor === "system" ? "Detection" : actor);
}

// Who made a change: a person by name, detection, or a program by its client id.
export function Actor({ actor }: { actor: string }) {
  const [, name, email] = person.exec(actor) ?? [];
  if (name !== undefined)
    return (
      <span className="[overflow-wrap:anywhere]">
        <span className="font-medium">{name}</span> <span className="text-xs text-faint">{email}</span>
      </span>
    );
  if (actor === "system") return <span>Detection</span>;
  return <span className="[overflow-wrap:anywhere]">{actor}</span>;
}
