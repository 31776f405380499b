// The tokens of texts, messages and conversations, without asking anybody.

export { type Estimate, type EstimateMethod, HybridEstimator } from "./hybrid.ts";
export { estimateImage } from "./image.ts";
export { estimateMessage, estimateTools } from "./message.ts";
export { estimateText } from "./text.ts";
