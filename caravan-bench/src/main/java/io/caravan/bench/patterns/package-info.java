/**
 * Compares ways to write a file, at many write sizes: the classic comparison of the cost of a small write (open, append
 * and close each time; hold the file open; buffer), and the factors that matter when writes must survive a crash:
 * whether the file's blocks exist already, what is forced, and how much with one force.
 *
 * <p>A {@link io.caravan.bench.patterns.Pattern} opens a {@link io.caravan.bench.patterns.Writer}, which
 * {@link io.caravan.bench.patterns.PatternSweep} drives through all sizes. There are three sweeps: nothing forced, each
 * write forced, and 64 KiB at a time; {@link io.caravan.bench.patterns.Patterns} has the patterns of each.
 */
@NullMarked
package io.caravan.bench.patterns;

import org.jspecify.annotations.NullMarked;
