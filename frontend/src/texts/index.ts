/** Every text of the page, in this folder: translate it, and the page speaks another language. */
import { choices } from "./choices";
import { frame } from "./frame";
import { input } from "./input";
import { numbers } from "./numbers";
import { runs } from "./runs";
import { kinds } from "./shared";

export const texts = {
  none: "none",
  attackerWho: "An attacker who",
  oneIn: (n: string, exact: boolean) => `${exact ? "" : "about "}1 in ${n}`,
  rawData: "raw data",
  publishedData: "published data",
  rejectedData: "rejected data",
  kinds,
  ...frame,
  ...input,
  ...choices,
  ...runs,
  ...numbers,
};
