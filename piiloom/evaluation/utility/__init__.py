"""How useful a text stays when personal data is masked or replaced: answers from each variant of it, compared and graded."""
