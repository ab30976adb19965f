"""Work on the rows of files and folders, in runs that can be interrupted and continued.

The commands ``score``, ``augment``, ``purity``, ``testset`` and ``pseudo-label`` are all runs. A run goes like this:

1. `survey.survey` looks at every input file once: its columns, its number of rows, and damage.
2. The rows are cut into *pieces*, consecutive rows of one file (`pieces`). The same files always give the same pieces.
3. An *engine* works on the pieces: in this process, in several processes, or on a Ray cluster (`engines`,
   `ray_engine`). Each command has a *job* that says what to do with a piece.
4. Each finished piece becomes a *part*, a file that is written in one step and carries its counts. The *store* holds
   the parts, together with a manifest of everything that they depend on (`store`).
5. When all parts are there, the output is complete. A folder output is the store itself, with Parquet parts. For a file
   output, the parts are JSON lines in the folder ``OUT.parts``; they are joined into the file, and removed (`run`).

If a run is stopped, by Ctrl-C or ``kill -9``, the same command continues with the missing parts, even with another
engine or another number of workers, and the output has the same bytes as without the interruption. If a setting or the
input has changed, one line says what differs. ``--restart`` discards the unfinished run; ``--overwrite`` replaces a
finished output. Only one run at a time can write an output.

`score.score_file`, `augment.augment`, `pseudo_labels.pseudo_label_file`, and in `paraqd.annotation`
`purity.check_file` and `testset.make_testset` are the public functions. They share the options in `run.RunOptions`.
"""
