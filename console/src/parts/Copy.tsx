import { Check, Copy } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { Button } from "./Button.tsx";
import { toast } from "./Toasts.tsx";

const saidMs = 2_000;

// `name` says what is copied, because the text is not always visible.
function CopyButton({ text, name, className = "" }: { text: string; name: string; className?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), saidMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  // Browsers offer a clipboard only over HTTPS or on localhost.
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      toast({ kind: "problem", words: "The browser did not allow copying. Select the text and copy it by hand." });
    }
  };
  return (
    <Button className={className} onClick={() => void copy()} aria-label={isCopied ? `Copied ${name}` : `Copy ${name}`}>
      {isCopied ? <Check size={14} className="text-good" aria-hidden /> : <Copy size={14} aria-hidden />}
      <span aria-hidden>{isCopied ? "Copied" : "Copy"}</span>
    </Button>
  );
}

export async function copyAddress(whose: "case" | "account"): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    toast({ kind: "done", words: `Copied the link to this ${whose}.` });
  } catch {
    toast({ kind: "problem", words: "The browser did not allow copying." });
  }
}

// One line of text that can be copied in full, however long it is.
export function CopyLine({ label, text }: { label: string; text: string }) {
  const id = useId();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <label htmlFor={id} className="text-xs font-medium text-soft">
        {label}
      </label>
      <div className="flex gap-2">
        <input
          id={id}
          readOnly
          value={text}
          onFocus={(event) => event.currentTarget.select()}
          className="h-8 min-w-0 flex-1 rounded-md border border-line bg-sunken px-2.5 font-mono text-xs text-ink"
        />
        <CopyButton text={text} name={label.toLowerCase()} />
      </div>
    </div>
  );
}

export function CopyBlock({ name, text }: { name: string; text: string }) {
  return (
    <div className="relative">
      <pre
        tabIndex={0}
        role="region"
        aria-label={name}
        className="max-h-72 overflow-auto rounded-md border border-line bg-sunken p-3 pr-24 font-mono text-xs leading-5 break-all whitespace-pre-wrap"
      >
        {text}
      </pre>
      <CopyButton text={text} name={name} className="absolute top-2 right-2 h-7" />
    </div>
  );
}
