export const steps = ["score_2", "score_3", "score_4", "score_5"] as const;
type Step = (typeof steps)[number];
export type Steps = Record<Step, number>;

export const stepMeanings: Record<Step, string> = {
  score_2: "Shown in timelines. Makes no case.",
  score_3: "From here on there is a case.",
  score_4: "High: stands above the threes in the queue.",
  score_5: "Very high: stands first in the queue.",
};
