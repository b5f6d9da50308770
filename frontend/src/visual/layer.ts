/** All that draws, in one piece that the page loads when it is needed. */
export { drawChart, drawFlow, drawFrontier, drawRisks, mount } from "./charts";
export { mapOfChart } from "./errorMap";
export { mountMap } from "./map";
