"""The lab's style sheet: JupyterLab's own colours, in the light and in the dark theme."""

CSS = """<style>
.mjl{color:var(--jp-ui-font-color1,inherit);font-family:var(--jp-ui-font-family,sans-serif);
  font-size:13px;font-variant-numeric:tabular-nums}
.mjl .widget-html-content,.mjl .widget-html{line-height:1.45;font-size:13px}
.mjl .mjl-title{margin:2px 0 6px 2px;font-size:15px;font-weight:600}
.mjl .mjl-pair{display:flex;gap:6px;margin:0 0 4px}
.mjl .mjl-pair span{flex:1;text-align:center;font-weight:600}
.mjl img{border-radius:3px;background:var(--jp-layout-color2,#eee)}
.mjl .widget-label{text-align:left}
.mjl .widget-readout{width:52px;min-width:44px;margin-left:6px}
.mjl .mjl-speed .widget-readout{width:36px;min-width:36px}
.mjl .mjl-line{min-height:19px;margin:2px 0 0 2px}
.mjl .mjl-note{color:var(--jp-ui-font-color2,#616161)}
.mjl .mjl-trouble{color:var(--jp-error-color0,#b71c1c);font-weight:600;overflow-wrap:anywhere}
.mjl .mjl-speech{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.mjl table{border-collapse:collapse;border:0;margin:0;font-size:13px}
.mjl tr,.mjl tr:nth-child(even),.mjl tr:hover{background:none}
.mjl .mjl-readouts{margin-top:4px}
.mjl .mjl-row{display:flex;flex-wrap:wrap;align-items:baseline;padding:2px 0 2px 2px;
  border-top:1px solid var(--jp-border-color2,#e0e0e0)}
.mjl .mjl-name{flex:1 0 auto;max-width:100%;padding-right:10px;
  color:var(--jp-ui-font-color2,#616161)}
.mjl .mjl-figure{display:flex;align-items:baseline;margin-left:auto}
.mjl .mjl-value{white-space:nowrap;text-align:right}
.mjl .mjl-value td{min-width:var(--cell);padding:0;text-align:right;vertical-align:baseline}
.mjl .mjl-unit{flex:none;min-width:3.4em;padding-left:6px;color:var(--jp-ui-font-color2,#616161)}
.mjl .mjl-table{width:100%}
.mjl .mjl-table{margin-top:8px}
.mjl .mjl-caption{font-weight:600;padding:0 2px 2px}
.mjl .mjl-table svg{display:block;max-width:100%;height:auto}
.mjl .mjl-table caption{caption-side:top;text-align:left;font-weight:600;padding:0 2px 2px;
  color:inherit}
.mjl .mjl-table th,.mjl .mjl-table td{text-align:left;padding:2px 8px 2px 2px}
.mjl .mjl-table th{font-weight:normal;color:var(--jp-ui-font-color2,#616161)}
.mjl .mjl-table tbody tr{border-top:1px solid var(--jp-border-color2,#e0e0e0)}
.mjl .mjl-chart{display:block;font-size:11px;margin-top:4px;max-width:100%}
.mjl .mjl-chart text{fill:currentColor}
.mjl .mjl-chart .t{font-weight:600;font-size:12px}
.mjl .mjl-chart .y{text-anchor:end;opacity:.75}
.mjl .mjl-chart .x{text-anchor:middle;opacity:.75}
.mjl .mjl-chart .g{stroke:currentColor;opacity:.16;fill:none}
.mjl .mjl-chart .s{fill:none;stroke-width:1.8;stroke-linejoin:round}
</style>"""
