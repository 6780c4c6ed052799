package io.caravan.bench.timers;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/** Measures by how much each way to wait exceeds each requested delay, on an idle or busy machine. */
final class Overshoots implements Measure {
    static final List<Integer> DELAYS_MICROS = List.of(50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000);
    static final Figure OVERSHOOT_P50 = new Figure("overshoot p50, us", "%,.1f");
    static final Figure OVERSHOOT_P99 = new Figure("overshoot p99, us", "%,.1f");
    private static final Figure CPU_MICROS = new Figure("CPU, us a wait", "%,.1f");
    private static final Figure WAITS = new Figure("waits", "%,.0f");

    private static final int DIGITS = 3;
    private static final double NANOS_PER_MICRO = 1e3;
    private static final String DURABILITY = "nothing stored";

    private record Subject(String name, Supplier<Waiter> waiter) {}

    private static final List<Subject> SUBJECTS = List.of(
            new Subject("Caravan", Waiters::parkAndSpin),
            new Subject("ScheduledExecutorService", ScheduledWaiter::new),
            new Subject("Thread.sleep", Waiters::sleep),
            new Subject("LockSupport.parkNanos", Waiters::park),
            new Subject(Charts.MACHINE, Waiters::spin));

    static final List<String> SYSTEMS = SUBJECTS.stream().map(Subject::name).toList();

    private final Results results = new Results();
    private final boolean busy;
    private final int count;
    private final long limitNanos;

    Overshoots(boolean busy, boolean quick) {
        this.busy = busy;
        count = quick ? 5 : 500;
        limitNanos = TimeUnit.MILLISECONDS.toNanos(quick ? 20 : 400);
    }

    @Override
    public void run(Turn turn) throws InterruptedException {
        try (BusyCores cores = new BusyCores(busy)) {
            for (Subject subject : turn.inTurn(SUBJECTS)) {
                turn.say((busy ? "busy: " : "idle: ") + subject.name());
                measure(subject, turn.number() == 1);
            }
        }
    }

    private void measure(Subject subject, boolean cold) throws InterruptedException {
        try (Waiter waiter = subject.waiter().get()) {
            if (cold) {
                waits(waiter, DELAYS_MICROS.get(0));
            }
            for (int micros : DELAYS_MICROS) {
                Measurement measurement = waits(waiter, micros);
                results.add(row(micros, subject.name()), measurement);
            }
        }
    }

    static Row row(int micros, String system) {
        return new Row(String.format(Locale.ROOT, "wait of %,d us", micros), system, DURABILITY);
    }

    private Measurement waits(Waiter waiter, int micros) throws InterruptedException {
        long asked = TimeUnit.MICROSECONDS.toNanos(micros);
        Histogram overshoots = new Histogram(DIGITS);
        long cpu = waiter.cpuNanos();
        long start = System.nanoTime();
        int waits = 0;
        while (waits < count && System.nanoTime() - start < limitNanos) {
            overshoots.recordValue(Math.max(0, waiter.await(asked) - asked));
            waits++;
        }
        double cpuNanos = (double) (waiter.cpuNanos() - cpu) / waits;
        return new Measurement()
                .with(OVERSHOOT_P50, overshoots.getValueAtPercentile(50) / NANOS_PER_MICRO)
                .with(OVERSHOOT_P99, overshoots.getValueAtPercentile(99) / NANOS_PER_MICRO)
                .with(CPU_MICROS, cpuNanos / NANOS_PER_MICRO)
                .with(WAITS, waits);
    }

    @Override
    public Table table() {
        return new Table(busy ? "A busy machine" : "An idle machine", notes(), results);
    }

    private String notes() {
        return (busy ? "As many threads spin as there are cores. " : "Nothing else runs in this process. ")
                + "Each way to wait runs " + count + " times for each delay, or for"
                + " " + TimeUnit.NANOSECONDS.toMillis(limitNanos) + " ms, whichever comes first, so the p99 of the"
                + " longest delays is close to the maximum. Overshoot is the time by which a wait exceeds the"
                + " requested delay. Caravan's wait is that of its flusher: it parks for all but the last 100 us,"
                + " for which it spins. The executor's wait ends when its task starts. `Thread.sleep` rounds to"
                + " milliseconds before Java 21. \"" + Charts.MACHINE + "\" only reads the clock: "
                + (busy
                        ? "it never rests, so the scheduler preempts it for the others."
                        : "no wait is more precise, and none costs more.")
                + " CPU is that of the waiting threads: the cost of precision.";
    }

    @Override
    public List<Picture> pictures() {
        return new OvershootPictures(results, busy).all();
    }
}
