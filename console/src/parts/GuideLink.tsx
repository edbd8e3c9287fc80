import { BookOpen } from "lucide-react";

// `page` is a page below /docs, with the section if there is one. `about` completes the accessible name "Learn more about …".
type Props = { page: string; about: string; className?: string };

// Opens in a new tab, so a draft on the screen is not lost.
export function GuideLink({ page, about, className = "text-sm" }: Props) {
  return (
    <a
      href={`/docs/${page}`}
      target="_blank"
      rel="noreferrer"
      className={`no-print inline-flex items-center gap-1.5 font-normal whitespace-nowrap text-soft hover:text-ink hover:underline ${className}`}
    >
      <BookOpen size={14} aria-hidden /> Learn more<span className="sr-only"> about {about}</span>
    </a>
  );
}
