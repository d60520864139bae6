"""The lab's style sheet: JupyterLab's own colours, in the light and in the dark theme."""

CSS = """<style>
.mjl{color:var(--jp-ui-font-color1,inherit);font-family:var(--jp-ui-font-family,sans-serif)}
.mjl .mjl-title{margin:0 0 6px;font-size:15px;font-weight:600;line-height:1.4}
.mjl .widget-html-content{line-height:1.4}
.mjl .mjl-pair{display:flex}
.mjl .mjl-pair span{flex:1;text-align:center;font-weight:600}
.mjl .mjl-note{color:var(--jp-ui-font-color2,#616161)}
.mjl .mjl-trouble{color:var(--jp-error-color0,#b71c1c)}
.mjl .mjl-clock{font-variant-numeric:tabular-nums}
.mjl .mjl-speech{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.mjl table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.mjl .mjl-readouts th{text-align:left;font-weight:normal;padding:1px 8px 1px 0}
.mjl .mjl-readouts td{text-align:right}
.mjl .mjl-readouts td.mjl-unit{text-align:left;padding-left:4px}
.mjl .mjl-chart{display:block;font-size:11px}
.mjl .mjl-chart text{fill:currentColor}
.mjl .mjl-chart .t{font-weight:600}
.mjl .mjl-chart .y{text-anchor:end;opacity:.75}
.mjl .mjl-chart .x{text-anchor:middle;opacity:.75}
.mjl .mjl-chart .g{stroke:currentColor;opacity:.16;fill:none}
.mjl .mjl-chart .s{fill:none;stroke-width:1.8;stroke-linejoin:round}
</style>"""
