import type { AccountLink } from "@casehound/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MonitorSmartphone, Network } from "lucide-react";
import type { ReactNode } from "react";
import { Id } from "../../parts/Id.tsx";
import { ListFoot } from "../../parts/ListFoot.tsx";
import { Age } from "../../parts/Time.tsx";
import { useHistories } from "../../timeline/histories.ts";
import { countWords } from "../../timeline/words.ts";
import { Section } from "../case/Section.tsx";
import { Trace } from "../links/Trace.tsx";

// Devices and addresses. Shared ones come first, because investigators look for those.
export function Devices({ accountId }: { accountId: string }) {
  const list = useInfiniteQuery(useHistories().accountLinks(accountId));
  const links = list.data?.pages.flatMap((page) => page.links) ?? [];
  const isShared = links.some(({ shared_with }) => shared_with > 0);
  return (
    <Section
      title="Devices and addresses"
      isFlush
      aside={isShared && <ToLinks accountId={accountId}>Show what is shared</ToLinks>}
    >
      {list.isPending && <div role="status" aria-label="Loading devices" className="m-4 h-16 animate-pulse rounded bg-sunken" />}
      {list.isSuccess && links.length === 0 && <p className="p-4 text-soft">None seen yet.</p>}
      <ul>
        {links.map((link) => (
          <Row key={`${link.kind} ${link.value}`} link={link} accountId={accountId} />
        ))}
      </ul>
      <ListFoot list={list} what="The devices and addresses" more="Show more" />
    </Section>
  );
}

function Row({ link, accountId }: { link: AccountLink; accountId: string }) {
  const { kind, value, shared_with, first_seen, last_seen } = link;
  const Icon = kind === "device" ? MonitorSmartphone : Network;
  return (
    <li className="grid grid-cols-[1rem_minmax(0,1fr)] gap-x-2.5 border-t border-line px-4 py-2 first:border-t-0">
      <Icon size={15} className="mt-0.5 text-faint" aria-label={kind === "device" ? "device" : "address"} />
      <div className="min-w-0">
        <span className="[overflow-wrap:anywhere]">
          <Id id={value} />
        </span>
        <p>
          <Trace link={link} />
        </p>
        <p className="text-xs text-faint">
          {shared_with > 0 ? (
            <ToLinks accountId={accountId}>shared with {countWords(shared_with, "other")}</ToLinks>
          ) : (
            "not shared"
          )}{" "}
          · last seen <Age at={last_seen} suffix=" ago" />, first <Age at={first_seen} suffix=" ago" />
        </p>
      </div>
    </li>
  );
}

function ToLinks({ accountId, children }: { accountId: string; children: ReactNode }) {
  return (
    <Link to="/links" search={{ account: accountId }} className="font-medium text-accent underline">
      {children}
    </Link>
  );
}
