export type FieldType = "number" | "string" | "boolean" | "map";
export type FeatureValue = string | number | boolean;

// A value that a rule can read.
export type Field = {
  // Two characters, 0-9 and a-z. Stored decisions identify the field by its code, so a code is never changed and never reused. A
  // new field gets a code that no field ever had, wherever in the table it is.
  code: string;
  name: string;
  type: FieldType;
  // A few words, as an investigator would put it.
  plain: string;
  description: string;
  // Counted over the entity's last 64 events. The count never exceeds 64, so a higher threshold could never be met.
  isRing?: true;
  // The value if the field does not apply, unless it is the type's own zero.
  zero?: FeatureValue;
};

// The value of a field such as "minutes since" if the event in question has never happened.
export const never = 999_999;
export const ringSize = 64;

type Words = [code: string, name: string, plain: string, description: string];
const field = (type: FieldType, ...[code, name, plain, description]: Words): Field => ({ code, name, type, plain, description });
export const number = (...words: Words): Field => field("number", ...words);
export const ring = (...words: Words): Field => ({ ...number(...words), isRing: true });
export const since = (...words: Words): Field => ({ ...number(...words), zero: never });
export const flag = (...words: Words): Field => field("boolean", ...words);
export const text = (...words: Words): Field => field("string", ...words);
