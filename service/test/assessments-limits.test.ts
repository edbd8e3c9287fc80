import { expect, test } from "vitest";
import { AssessLab } from "./assess-lab.ts";
import { activityOf, labDetector, newTenant, useLab } from "./engine-lab.ts";
import { whileHeld } from "./launch.ts";
import { eventually } from "./process.ts";

const lab = useLab();

test("assessments: what is still being stored after its deadline counts as under way", async () => {
  const tenantId = await newTenant(lab.current);
  const assessing = new AssessLab(labDetector(lab.current.database));
  const ask = () => assessing.assess(tenantId, activityOf({ type: "logout" }), 20);
  await whileHeld(lab.current.url, "lock table assessments in access exclusive mode", async () => {
    const answers = await Promise.all(Array.from({ length: 2_000 }, ask));
    expect(answers.filter((reply) => !reply.includes('"is_stored":false'))).toEqual([]);
    await expect(ask()).rejects.toMatchObject({ code: "rate-limited" });
  });
  await eventually(ask);
  await assessing.stop();
});

test("assessments: one tenant's judgements at the deadline do not use up those of the others", async () => {
  const [busy, other] = [await newTenant(lab.current), await newTenant(lab.current)];
  const detector = labDetector(lab.current.database);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const current = detector.ruleSets.current.bind(detector.ruleSets);
  const judged = new Set<string>();
  detector.ruleSets.current = async (tx, tenantId) => {
    judged.add(tenantId);
    if (tenantId === busy) await released;
    return current(tx, tenantId);
  };
  const assessing = new AssessLab(detector);
  const login = { type: "login_succeeded" };
  // Nobody gets a turn, so whatever is judged is judged at a deadline.
  await whileHeld(lab.current.url, "select 1 from engine_turns for update", async () => {
    await Promise.all(Array.from({ length: 100 }, () => assessing.assess(busy, activityOf(login), 500)));
    await eventually(async () => {
      await assessing.assess(other, activityOf(login), 2_000);
      expect(judged).toEqual(new Set([busy, other]));
    });
  });
  release();
  await assessing.stop();
});
