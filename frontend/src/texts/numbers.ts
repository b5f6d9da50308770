/** Charts, and the names of numbers. */
import { count } from "./shared";

export const numbers = {
  charts: {
    nothing: "Nothing to show.",
    show: "Show the numbers",
    hide: "Hide the numbers",
    label: "label",
    place: "place",
    upTo: (value: string) => `up to ${value}`,
    first: (n: number, of: number) => `The first ${n} of ${of.toLocaleString("en-US")} are drawn; the table has all.`,
    spoken: (title: string, kind: string, n: number, names: string[]) =>
      `${title}. ${kind === "line" ? "Line chart" : "Bar chart"} with ${count(n, "label", "labels")}.${names.length > 1 ? ` Series: ${names.join(", ")}.` : ""} The numbers can be shown below.`,
    panel: (title: string, name: string, n: number, kind: string) => `${title}, ${name}: map of ${n.toLocaleString("en-US")} ${kind}.`,
    lines: (title: string, n: number) => `${title}. Map with ${count(n, "line", "lines")}.`,
    errorClass: (i: number, n: number) => `${["up to 5 %", "5 to 20 %", "20 to 50 %", "more than 50 %"][i]}: ${n.toLocaleString("en-US")}`,
  },

  /** Names of numbers that the rules do not tell well. */
  names: {
    max_share: "Largest share of one place",
    max_share_trajectories: "Largest share of one place, of trajectories",
    unsafe: "Places that tell too much",
    min_candidates: "Fewest candidates of a person",
    min_people: "Fewest people behind a trajectory",
    edges: "Trajectories that fit people",
    edges_left: "Left after ruling out what cannot be",
    symmetric: "Whoever fits is fitted",
    not_contained: "People who do not fit their own trajectory",
    boxes_untrue: "Boxes that are not true",
    points_outside: "Points outside of their box",
    identity_mean: "Find the person, mean over people",
    identity_max: "Find the person, most at risk",
    identity_share_above: "People above the threshold (person)",
    attribute_mean: "Infer a sensitive value, mean over people",
    attribute_max: "Infer a sensitive value, most at risk",
    attribute_share_above: "People above the threshold (value)",
    inference_mean: "Infer a place, mean over people",
    inference_max: "Infer a place, person most at risk",
    inference_share_above: "People with a risk above the promise",
    unique_share: "Exactly one person matches",
    unmatched_share: "Nothing matches",
    max_probability: "Largest probability of a sensitive place",
    small_classes: "Classes of too few people",
    nested_classes: "Classes with one sensitive node above another",
    sensitive_rows: "Stops at sensitive places",
    generalized_rows: "Stops at a wider place than the true one",
    suppressed_rows: "Stops left out",
    false_trajectories: "Trajectories that are not true",
    victims_missed_share: "Another person is taken instead",
    victims_published_share: "People with something published",
    exposed_people_share: "Share of people exposed",
    exact_share: "People judged exactly",
    broken: "Places where a route is not connected",
  } as Record<string, string>,

  nameParts: { min: "smallest", max: "largest", n: "number of", mfs: "maximal sequences", qi: "not sensitive" } as Record<string, string>,
};
