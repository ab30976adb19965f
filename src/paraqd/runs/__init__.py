"""Process the rows of files and folders in runs that can be interrupted and resumed.

The commands ``score``, ``augment``, ``purity``, ``testset`` and ``pseudo-label`` each start a run. A run has five
steps:

1. `survey.survey` inspects every input file once. It records the columns and the number of rows, and detects damage.
2. The rows are split into *pieces*. A piece is a block of consecutive rows from one file (`pieces`). The same files
   always yield the same pieces.
3. An *engine* processes the pieces in this process, in several processes, or on a Ray cluster (`engines`,
   `ray_engine`). Each command has a *job* that defines what happens to a piece.
4. The result of each piece is a *part*, a file that is written atomically and also contains the counts for the piece
   (`parts`). The *store* holds the parts and a manifest, which records everything that the parts depend on (`store`).
5. The output is complete when no part is missing. A folder output is the store itself, with Parquet parts. For a file
   output, the parts are JSON Lines files in the folder ``OUT.parts``. They are joined into the output file and then
   removed (`run`).

If a run is stopped, even by ``kill -9``, the same command resumes the run and processes the remaining pieces. The
engine and the number of workers may differ. The output is byte for byte the same as the output of an uninterrupted run.
If a setting or the input has changed, a one-line error names the difference. The option ``restart`` discards an
unfinished run, and ``overwrite`` replaces a finished output. Only one run at a time can write to an output.

The public functions are `score.score_file`, `augment.augment` and `pseudo_labels.pseudo_label_file`, together with
`purity.check_file` and `testset.make_testset` in `paraqd.lab.annotation`. All of them accept the options in
`run.RunOptions`.
"""
