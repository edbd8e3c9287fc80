import { dismissToast, toast } from "./Toasts.tsx";

type Offer = { about: string; toastId: number; undo: () => void };
type Given = { about: string; words: string; undo: () => void };

const offersMax = 20;

// The changes that can be undone, latest last. Each owner has its own list, so nobody undoes another person's change.
const offers = new WeakMap<object, readonly Offer[]>();

function offersOf(owner: object): readonly Offer[] {
  return offers.get(owner) ?? [];
}

// Reports what was done and offers to undo it, by button or key. It replaces an earlier offer about the same thing.
export function offerUndo(owner: object, { about, words, undo }: Given): void {
  withdrawUndo(owner, about);
  const run = () => {
    withdrawUndo(owner, about);
    undo();
  };
  const toastId = toast({ kind: "done", words, action: { name: "Undo", run } });
  offers.set(owner, [...offersOf(owner), { about, toastId, undo: run }].slice(-offersMax));
}

export function withdrawUndo(owner: object, about: string): void {
  for (const { toastId } of offersOf(owner).filter((each) => each.about === about)) dismissToast(toastId);
  offers.set(
    owner,
    offersOf(owner).filter((each) => each.about !== about),
  );
}

export function undoLast(owner: object): void {
  const last = offersOf(owner).at(-1);
  if (last) last.undo();
  else toast({ kind: "note", words: "There is nothing to undo." });
}
