package io.caravan.bench.gate;

import io.caravan.bench.gate.Ceilings.Ceiling;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Measures the ratios in rounds; each round measures every ratio that is not settled yet. */
final class Gate implements AutoCloseable {
    private static final int LEAST_ROUNDS = 5;
    private static final int MOST_ROUNDS = 15;
    /** Time after which no further round of a quick run starts, because a round may take seconds on a busy machine. */
    private static final long QUICK_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(40);

    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(180);

    private final Map<Ratio, Ceiling> ceilings;
    private final long limitNanos;
    private final Map<Ratio, Probe> probes = new EnumMap<>(Ratio.class);
    private final Map<Ratio, List<Double>> rounds = new EnumMap<>(Ratio.class);

    /** Opens the probes and warms them up. */
    Gate(Map<Ratio, Ceiling> ceilings, Path work, boolean quick) throws IOException, InterruptedException {
        this.ceilings = ceilings;
        limitNanos = quick ? QUICK_LIMIT_NANOS : LIMIT_NANOS;
        try {
            for (Ratio ratio : ceilings.keySet()) {
                Probe probe = ratio.open(work.resolve(ratio.title()), quick);
                probes.put(ratio, probe);
                rounds.put(ratio, new ArrayList<>());
                probe.round();
            }
        } catch (IOException | InterruptedException | RuntimeException failed) {
            close();
            throw failed;
        }
    }

    /** Runs rounds until all ratios are settled or a limit is reached, and returns the verdicts. */
    List<RatioVerdict> verdicts() throws IOException, InterruptedException {
        long start = System.nanoTime();
        for (int round = 1; needsMoreRounds(round, start) && round(round); round++) {
            System.err.println("round " + round + " of " + LEAST_ROUNDS + " to " + MOST_ROUNDS);
        }
        return ceilings.keySet().stream().map(this::verdict).toList();
    }

    private boolean needsMoreRounds(int round, long startNanos) {
        return round <= LEAST_ROUNDS || round <= MOST_ROUNDS && System.nanoTime() - startNanos < limitNanos;
    }

    /** Runs a round, and returns whether it measured any ratio. */
    private boolean round(int number) throws IOException, InterruptedException {
        boolean any = false;
        for (Map.Entry<Ratio, Probe> probe : probes.entrySet()) {
            if (number <= LEAST_ROUNDS || !verdict(probe.getKey()).settled()) {
                measured(probe.getKey()).add(probe.getValue().round());
                any = true;
            }
        }
        return any;
    }

    private RatioVerdict verdict(Ratio ratio) {
        Ceiling ceiling = ceilings.get(ratio);
        if (ceiling == null) {
            throw new IllegalArgumentException(ratio + " has no ceiling");
        }
        return new RatioVerdict(ratio, ceiling, List.copyOf(measured(ratio)));
    }

    private List<Double> measured(Ratio ratio) {
        return rounds.computeIfAbsent(ratio, key -> new ArrayList<>());
    }

    @Override
    public void close() throws IOException {
        for (Probe probe : probes.values()) {
            probe.close();
        }
    }
}
