"""What HTML pages, plots and folders of evaluation share: charts as inline SVG, tables, the frame of a page, the writing of files."""
