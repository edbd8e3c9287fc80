import type { ButtonHTMLAttributes, ReactNode } from "react";

type Look = "primary" | "plain" | "quiet" | "danger";

const looks: Record<Look, string> = {
  primary: "bg-accent text-accent-ink border-accent hover:opacity-90",
  plain: "bg-surface text-ink border-edge/50 hover:bg-hover",
  quiet: "bg-transparent text-soft border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-surface text-bad border-bad/50 hover:bg-bad-soft",
};

const shape =
  "inline-flex items-center justify-center gap-1.5 h-8 rounded-md border text-sm font-medium whitespace-nowrap transition-colors disabled:opacity-55";

type Props = ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look; isSquare?: boolean };

export function Button({ look = "plain", isSquare = false, className = "", type = "button", ...rest }: Props) {
  return <button type={type} className={`${shape} ${isSquare ? "w-8" : "px-3"} ${looks[look]} ${className}`} {...rest} />;
}

// It shows only an icon, so the name is required.
export function IconButton({ name, children, className = "", ...rest }: Props & { name: string; children: ReactNode }) {
  return (
    <Button look="quiet" aria-label={name} title={name} isSquare className={className} {...rest}>
      {children}
    </Button>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-[18px] min-w-[18px] items-center justify-center rounded border border-line bg-sunken px-1 font-sans text-[11px] leading-none text-soft">
      {children}
    </kbd>
  );
}
