import { render } from "preact";
import { App } from "./App";
import "./styles.css";
import "./visual/visual.css";

const root = document.getElementById("root");
if (root) render(<App />, root);
