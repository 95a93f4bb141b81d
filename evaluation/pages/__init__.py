"""What HTML pages and plots of evaluation share: charts as inline SVG, tables, the frame with its policy, style, theme."""
