import { BookOpen, FileJson } from "lucide-react";
import { CopyLine } from "../../parts/Copy.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { Connection } from "./Connection.tsx";
import { Credentials } from "./Credentials.tsx";
import { Origins } from "./Origins.tsx";
import { ScenarioSender } from "./ScenarioSender.tsx";
import { SignedIdentity } from "./SignedIdentity.tsx";
import { Snippet } from "./Snippet.tsx";
import { Webhooks } from "./Webhooks.tsx";

const linkLook =
  "inline-flex h-8 items-center gap-1.5 rounded-md border border-edge/50 bg-surface px-3 text-sm font-medium hover:bg-hover";

// For developers who connect a site and its servers: whether data arrives, which credentials exist, and what the calls look like.
export function DevelopersScreen() {
  return (
    <div className="h-full overflow-y-auto">
      <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-3">
        <div className="mx-auto flex max-w-[85.5rem] flex-wrap items-center gap-2">
          <h1 className="mr-auto text-lg font-semibold">Developers</h1>
          <a href="/docs/api" target="_blank" rel="noreferrer" className={linkLook}>
            <BookOpen size={15} aria-hidden /> API reference
          </a>
          <a href="/openapi.json" target="_blank" rel="noreferrer" className={linkLook}>
            <FileJson size={15} aria-hidden /> OpenAPI
          </a>
        </div>
      </header>
      <div className="mx-auto grid max-w-[88rem] grid-cols-[minmax(0,1fr)_27rem] items-start gap-4 p-5 max-[76rem]:grid-cols-1">
        <div className="grid min-w-0 gap-4">
          <Connection />
          <ScenarioSender />
          <SignedIdentity />
          <Credentials />
          <Webhooks />
        </div>
        <div className="grid min-w-0 gap-4">
          <Addresses />
          <Snippet />
          <Origins />
        </div>
      </div>
    </div>
  );
}

function Addresses() {
  const { session } = useWorkspace();
  const { slug, tenant_id } = session.tenant;
  return (
    <Section title="Addresses">
      <div className="grid gap-3">
        <CopyLine label="Base address" text={`${location.origin}/v2/${slug}`} />
        <CopyLine label="Token address" text={`${location.origin}/v2/oauth/token`} />
        <CopyLine label="Tenant id" text={tenant_id} />
      </div>
    </Section>
  );
}
