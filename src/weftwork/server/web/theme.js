// Before the first paint, so that the page does not flash: the theme that was chosen here last, if any was.
document.documentElement.classList.remove("no-script");
const kept = localStorage.getItem("weftwork-theme");
if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
