export const dispositions = ["CONFIRMED_FRAUD", "FALSE_POSITIVE", "INCONCLUSIVE"] as const;
