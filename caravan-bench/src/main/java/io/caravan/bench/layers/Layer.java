package io.caravan.bench.layers;

import java.util.Arrays;
import java.util.List;

/** The steps that are measured alone, in the order in which an append runs them. */
enum Layer {
    CHECKSUM("checksum of the value", Where.CALLER, "CallerBenchmark.checksum"),
    LOCK("lock, uncontended", Where.CALLER, "CallerBenchmark.lock"),
    INDEX("index: find and append", Where.CALLER, "IndexBenchmark.findAndAppend"),
    ENCODE("record without value", Where.CALLER, "CallerBenchmark.encode"),
    COPY("copy of the value", Where.CALLER, "CallerBenchmark.copy"),
    SEAL("checksum of the frame", Where.FLUSHER, "FlusherBenchmark.seal"),
    WRITE("write of the frame", Where.FLUSHER, "FlusherBenchmark.write"),
    FIND("index: find alone", Where.ASIDE, "IndexBenchmark.find"),
    REGION("survivor: region in the heap", Where.ASIDE, "HeapBenchmark.ask"),
    TENURE("survivor: copy from the log to the heap", Where.ASIDE, "FlusherBenchmark.tenure"),
    REUSED_REGION("region in a heap full of holes, another freed", Where.ASIDE, "HeapBenchmark.askAndFree"),
    MACHINE_CHECKSUM("checksum of 191 bytes", Where.MACHINE, "MachineBenchmark.checksum"),
    MACHINE_COPY("copy of 191 bytes", Where.MACHINE, "MachineBenchmark.copy"),
    MACHINE_CLOCK("look at the clock", Where.MACHINE, "MachineBenchmark.clock");

    /** What runs the step. */
    enum Where {
        CALLER("caller's thread"),
        FLUSHER("flusher's thread"),
        /** Not a step of the whole appends that are measured. */
        ASIDE("aside"),
        MACHINE("alone");

        private final String text;

        Where(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    private final String title;
    private final Where where;
    private final String benchmark;

    Layer(String title, Where where, String benchmark) {
        this.title = title;
        this.where = where;
        this.benchmark = benchmark;
    }

    static List<Layer> on(Where where) {
        return Arrays.stream(values()).filter(layer -> layer.where == where).toList();
    }

    String title() {
        return title;
    }

    Where where() {
        return where;
    }

    /** The name of its result in {@link Microbenchmarks}. */
    String benchmark() {
        return benchmark;
    }
}
