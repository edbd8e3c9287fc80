import { ApprovalLimits } from "./ApprovalLimits.tsx";
import { OwnOutcomes } from "./OwnOutcomes.tsx";
import { Templates } from "./Templates.tsx";

// What people are offered when they close a case.
export function ClosingTab() {
  return (
    <div className="mx-auto grid max-w-[88rem] gap-4 p-5">
      <Templates />
      <OwnOutcomes />
      <ApprovalLimits />
    </div>
  );
}
