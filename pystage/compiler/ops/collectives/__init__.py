"""Operations among the participants of named axes: collectives, and how values vary over such axes."""
