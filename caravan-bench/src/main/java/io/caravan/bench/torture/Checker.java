package io.caravan.bench.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Decides whether a store kept its promises: all that was acknowledged is there, in order, with the right bytes;
 * nothing is there that was never sent; what was under way is there wholly or not at all; and nothing is gone again that
 * somebody had read.
 */
final class Checker {
    private final Lists lists;
    private final boolean smallDisk;

    /**
     * Makes a checker.
     *
     * @param smallDisk whether appends may be refused for want of space
     */
    Checker(Lists lists, boolean smallDisk) {
        this.lists = lists;
        this.smallDisk = smallDisk;
    }

    /**
     * The verdict.
     *
     * @param problems empty when all is well
     * @param kept intents that had an effect though no acknowledgement was heard
     */
    record Verdict(List<String> problems, long kept) {}

    /**
     * Checks what was found against what was there before and what was said since.
     *
     * @param model what was there before; becomes what is there now
     */
    Verdict check(StoreModel model, Ledger ledger, Contents found) {
        List<String> problems = new ArrayList<>(ledger.problems());
        checkRefusals(ledger, problems);
        List<Sightings> sightings = sightingsByOwner(ledger);
        long kept = 0;
        for (int worker = 0; worker < lists.workers(); worker++) {
            WorkerCheck check = new WorkerCheck(
                    lists.of(worker), model, ledger.worker(worker), ledger.closed(), sightings.get(worker), found);
            kept += check.run();
            problems.addAll(check.problems());
        }
        found.lists().keySet().stream()
                .filter(id -> !lists.known(id))
                .forEach(id -> problems.add("list " + id + " is there, and nobody ever wrote to it"));
        return new Verdict(problems, kept);
    }

    private void checkRefusals(Ledger ledger, List<String> problems) {
        String words = ledger.firstRefusal();
        if (words == null) {
            return;
        }
        if (!smallDisk) {
            problems.add("a change was refused for want of space, though there is enough: " + words);
        }
        if (!words.contains("space")) {
            problems.add("a change was refused for want of space in words that do not say so: " + words);
        }
    }

    private List<Sightings> sightingsByOwner(Ledger ledger) {
        List<Sightings> byOwner =
                Stream.generate(Sightings::new).limit(lists.workers()).toList();
        ledger.sightings()
                .forEach(sighting -> byOwner.get(lists.owner(sighting.id())).add(sighting));
        return byOwner;
    }
}
