import type { ReasonTemplates } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { nameOfActor } from "../../parts/Actor.tsx";
import { templateQuery } from "../../closing/templates.ts";
import { dispositionWords } from "../../parts/Badges.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Stale, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { visible } from "../../parts/visible.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { EntryList } from "./EntryList.tsx";
import { TemplateDialog } from "./TemplateDialog.tsx";
import { useSavingTemplates } from "./saving.ts";

// Shows the texts that / offers in the reason of a close. Admins edit them.
export function Templates() {
  const { client } = useWorkspace();
  const read = useQuery(templateQuery(client));
  if (read.isPending) return <Loading lines={6} name="Loading the templates" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <Stale read={read} />
      <TemplateList stored={read.data} />
    </>
  );
}

function TemplateList({ stored }: { stored: ReasonTemplates }) {
  const { may } = useWorkspace();
  const save = useSavingTemplates(stored);
  const mayManage = may("update:tenant");
  const aside = (
    <div className="flex flex-wrap items-center gap-3">
      <span className="text-xs text-faint">
        version {stored.templates_version}, changed <Age at={stored.updated_at} suffix=" ago" /> by{" "}
        {nameOfActor(stored.updated_by)}
      </span>
      <GuideLink page="investigators#reason-templates" about="reason templates" />
    </div>
  );
  return (
    <Section title="Reason templates" aside={aside}>
      <p className="mb-2 max-w-[52rem] text-soft">
        Type / in the reason of a close to insert one of these texts. Only the templates that fit the case are offered.
        {!mayManage && " Only admins can change them."}
      </p>
      <EntryList
        name="Reason templates"
        entries={stored.templates}
        save={mayManage ? save : undefined}
        add="Add a template"
        onDeleted="Reasons that were already given do not change."
        dialog={(template, onClose) => <TemplateDialog template={template} stored={stored} onClose={onClose} />}
        show={({ name, text, labels, disposition }) => (
          <>
            <div className="min-w-0 flex-1 basis-72 [overflow-wrap:anywhere]">
              <p className="font-medium">{visible(name)}</p>
              <p className="text-sm whitespace-pre-line text-soft">{visible(text)}</p>
            </div>
            <p className="basis-56 text-sm text-soft">
              {labels?.join(", ") ?? "All labels"}
              <span className="block text-xs text-faint">{disposition ? dispositionWords[disposition] : "Any outcome"}</span>
            </p>
          </>
        )}
      />
    </Section>
  );
}
