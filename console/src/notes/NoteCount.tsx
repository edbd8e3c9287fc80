import { MessageSquare } from "lucide-react";

export function NoteCount({ count }: { count: number }) {
  const words = count === 1 ? "1 note" : `${count} notes`;
  return (
    <span title={words} className="inline-flex shrink-0 items-center gap-0.5 text-xs text-faint">
      <MessageSquare size={13} aria-hidden />
      <span aria-hidden>{count}</span>
      <span className="sr-only">{words}</span>
    </span>
  );
}
