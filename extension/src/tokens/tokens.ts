// The tokens of texts, messages and conversations, without asking anybody.

export { type Estimate, HybridEstimator, type Method } from "./hybrid.ts";
export { estimateImage } from "./image.ts";
export { estimateMessage, estimateTools } from "./message.ts";
export { estimateText } from "./text.ts";
