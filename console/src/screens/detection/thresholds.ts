export const steps = ["score_2", "score_3", "score_4", "score_5"] as const;
type Step = (typeof steps)[number];
export type Steps = Record<Step, number>;

export const stepMeanings: Record<Step, string> = {
  score_2: "Shown in timelines. Opens no case.",
  score_3: "Opens a case.",
  score_4: "High. Listed above score 3 in the queue.",
  score_5: "Very high. Listed first in the queue.",
};
