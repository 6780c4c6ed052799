package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the links and the language of the documentation, and the language of Java comments; see CONTRIBUTING.md. */
final class DocumentsTest {
    private static final int MAX_SENTENCE_WORDS = 35;
    private static final int MAX_PARAGRAPH_WORDS = 75;

    private static final Pattern SENTENCE_END =
            Pattern.compile("(?<=[.!?])[)\"*_]*\\s+(?=[\"(*_\\[]*(?:[A-Z0-9]|gRPC))|;\\s+(?=\\(\\d)");
    private static final Pattern FENCE = Pattern.compile("(?ms)^\\s*```.*?^\\s*```");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern RELATIVE_LINK = Pattern.compile("]\\((?!\\w+:)([^)#\\s]*)(?:#([^)\\s]*))?\\)");
    private static final Pattern LINK = Pattern.compile("!?\\[([^]]*)]\\([^)]*\\)");
    private static final Pattern CODE =
            Pattern.compile("(`+)[^`]+\\1|\\{@(?:code|link|linkplain|value)\\s[^}]*}|<pre>.*?</pre>");
    private static final Pattern COMMENT =
            Pattern.compile("^[ \\t]*/\\*\\*.*?\\*/|(?:^[ \\t]*//[^\\n]*\\n)+", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)* (?:[^\"\\\\\n]|\\\\.)*)\"");
    private static final Pattern BLOCK_TAG = Pattern.compile(
            "(?m)^\\s*@(?:param|throws)\\s+\\S+|^\\s*@\\w+|<p>|<li>|<ul>|</ul>|<ol>|<table|<tr>|<td>|<h\\d>");
    private static final Pattern BAD_SUMMARY =
            Pattern.compile("(?:What|How|Where|When|Who|Whose|Which|Up to|By|As|So|From|Of|If)\\b.*", Pattern.DOTALL);

    /** Maps the avoided words to their replacements. Plurals and other forms are separate entries. */
    private static final Map<Pattern, String> AVOIDED = avoided(Map.ofEntries(
            Map.entry("whoever|whatever", "name the thing: a caller, the values"),
            Map.entry("nobody|somebody", "no client, an operator"),
            Map.entry("anew", "again"),
            Map.entry("meanwhile", "in the meantime"),
            Map.entry("tells|told", "reports, returns, notifies"),
            Map.entry("shall", "must, will"),
            Map.entry("as ever", "as before"),
            Map.entry("all the same", "anyway"),
            Map.entry("at leisure", "in the background"),
            Map.entry("for ever", "forever, indefinitely"),
            Map.entry("mends?|mended", "fix, repair"),
            Map.entry("folders?", "directory"),
            Map.entry(
                    "licences?|catalogues?|colours?|behaviours?|favours?|centres?|artefacts?|neighbours?",
                    "the American spelling"),
            Map.entry("(?:acknowledg|judg)ements?", "acknowledgment, judgment, the American spelling"),
            Map.entry(
                    "(?:organ|initial|serial|recogn|normal|optim|synchron|minim|maxim|summar|author|prior)is(?:e[ds]?|ing|ation)",
                    "-ize, the American spelling"),
            Map.entry("cancelled|labelled|travelled|modelled|signalled", "one l, the American spelling")));

    private static Map<Pattern, String> avoided(Map<String, String> words) {
        return words.entrySet().stream()
                .collect(Collectors.toMap(
                        word -> Pattern.compile("\\b(?:" + word.getKey() + ")\\b", Pattern.CASE_INSENSITIVE),
                        Map.Entry::getValue));
    }

    private final List<String> findings = new ArrayList<>();

    @Test
    void documentsFollowLanguageRules() throws IOException {
        Path root = root();
        for (Path page : pages(root)) {
            checkPage(root.relativize(page).toString(), Files.readString(page));
        }
        assertThat(findings).isEmpty();
    }

    @Test
    void commentsFollowLanguageRules() throws IOException {
        Path root = root();
        for (Path source : sources(root)) {
            checkComments(root.relativize(source).toString(), Files.readString(source));
        }
        assertThat(findings).isEmpty();
    }

    /** Checks the string literals of the main code: messages, help texts, and metric descriptions. */
    @Test
    void messagesFollowLanguageRules() throws IOException {
        Path root = root();
        for (Path source : sources(root)) {
            if (source.toString().contains("/src/main/")) {
                String code = COMMENT.matcher(Files.readString(source)).replaceAll("");
                LITERAL.matcher(code)
                        .results()
                        .forEach(text -> checkWords(root.relativize(source).toString(), text.group(1)));
            }
        }
        assertThat(findings).isEmpty();
    }

    @Test
    void relativeLinksHaveTargets() throws IOException {
        Path root = root();
        List<Path> pages = new ArrayList<>(pages(root));
        pages.addAll(files(root.resolve("integrations"), "README.md"));
        for (Path page : pages) {
            Matcher link =
                    RELATIVE_LINK.matcher(FENCE.matcher(Files.readString(page)).replaceAll(""));
            while (link.find()) {
                Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
                check(Files.exists(target), root.relativize(page).toString(), "a link has no target", link.group());
                if (link.group(2) != null && Files.isRegularFile(target)) {
                    boolean found = anchors(Files.readString(target)).contains(link.group(2));
                    check(found, root.relativize(page).toString(), "the target has no such heading", link.group());
                }
            }
        }
        assertThat(findings).isEmpty();
    }

    /** Returns the link anchors of the headings on a page. */
    private static Set<String> anchors(String markdown) {
        return HEADING.matcher(FENCE.matcher(markdown).replaceAll(""))
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\w -]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    private void checkPage(String name, String text) {
        List<String> paragraph = new ArrayList<>();
        int start = 0;
        int number = 0;
        boolean code = false;
        for (String line : (text + "\n\n").split("\n", -1)) {
            number++;
            String trimmed = line.strip();
            boolean fence = trimmed.startsWith("```");
            boolean breaks = fence
                    || code
                    || trimmed.isEmpty()
                    || trimmed.startsWith("#")
                    || trimmed.startsWith("|")
                    || trimmed.matches("(?:[-*]|\\d+\\.) .*");
            if (breaks && !paragraph.isEmpty()) {
                checkText(name + ":" + start, String.join(" ", paragraph), MAX_PARAGRAPH_WORDS);
                paragraph.clear();
            }
            if (fence) {
                code = !code;
            } else if (!code) {
                if (trimmed.startsWith("#")) {
                    check(!trimmed.endsWith("?"), name + ":" + number, "a heading is a task or an object", trimmed);
                    checkWords(name + ":" + number, trimmed);
                } else if (trimmed.startsWith("|")) {
                    for (String cell : trimmed.split("(?<!\\\\)\\|")) {
                        checkText(name + ":" + number, cell, MAX_PARAGRAPH_WORDS);
                    }
                } else if (!trimmed.isEmpty()) {
                    start = paragraph.isEmpty() ? number : start;
                    paragraph.add(trimmed);
                }
            }
        }
    }

    private void checkComments(String name, String source) {
        Matcher comments = COMMENT.matcher(source);
        while (comments.find()) {
            String place = name + ":"
                    + (1
                            + source.substring(0, comments.start())
                                    .chars()
                                    .filter(c -> c == '\n')
                                    .count());
            String text = comments.group()
                    .replaceAll("(?m)^\\s*(?:/\\*\\*|\\*/|\\*|//)|\\*/", "")
                    .strip();
            if (comments.group().strip().startsWith("/**")) {
                String summary = SENTENCE_END.split(BLOCK_TAG.split(text)[0].strip())[0];
                check(
                        !BAD_SUMMARY.matcher(summary).matches(),
                        place,
                        "a summary starts with a verb or a noun",
                        summary);
            }
            for (String part : BLOCK_TAG.split(text.replaceAll("(?m)^\\s*@(?:author|see).*", ""))) {
                checkText(place, part.replaceAll("\\s+", " "), Integer.MAX_VALUE);
            }
        }
    }

    private void checkText(String place, String text, int maxWords) {
        String plain = LINK.matcher(CODE.matcher(text).replaceAll("Code")).replaceAll("$1");
        checkWords(place, plain);
        int words = 0;
        for (String sentence : SENTENCE_END.split(plain)) {
            int count = words(sentence);
            words += count;
            check(
                    count <= MAX_SENTENCE_WORDS,
                    place,
                    count + " words in a sentence, " + MAX_SENTENCE_WORDS + " at most",
                    sentence);
        }
        check(words <= maxWords, place, words + " words in a paragraph, " + maxWords + " at most", plain);
    }

    private static int words(String text) {
        return (int) Stream.of(text.strip().split("\\s+"))
                .filter(word -> word.matches(".*\\w.*"))
                .count();
    }

    private void checkWords(String place, String text) {
        AVOIDED.forEach((word, instead) -> {
            Matcher found = word.matcher(text);
            if (found.find()) {
                check(false, place, "\"" + found.group() + "\": " + instead, text);
            }
        });
    }

    private void check(boolean holds, String place, String rule, String text) {
        if (!holds) {
            findings.add(place + ": " + rule + ": " + text.strip().replaceAll("\\s+", " "));
        }
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.isDirectory(here.resolve("docs")) ? here : here.getParent();
    }

    /** Returns the documentation pages except the benchmark results, most of which are generated. */
    private static List<Path> pages(Path root) throws IOException {
        try (Stream<Path> files = Stream.of(
                        Files.list(root), Files.walk(root.resolve("docs")), Files.list(root.resolve("examples")))
                .flatMap(all -> all)) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .filter(file -> !file.startsWith(root.resolve("docs/benchmarks/results")))
                    .filter(file -> !file.endsWith("CHANGELOG.md"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Path> sources(Path root) throws IOException {
        List<Path> all = new ArrayList<>();
        for (Path module : modules(root)) {
            all.addAll(files(module.resolve("src"), ".java"));
        }
        all.addAll(files(root.resolve("integrations/java"), ".java"));
        all.addAll(files(root.resolve("examples"), ".java"));
        return all;
    }

    private static List<Path> modules(Path root) throws IOException {
        try (Stream<Path> entries = Files.list(root)) {
            return entries.filter(entry -> Files.isDirectory(entry.resolve("src/main/java")))
                    .toList();
        }
    }

    private static List<Path> files(Path directory, String suffix) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .filter(file -> !file.toString().matches(".*/(node_modules|[.]venv)/.*"))
                    .toList();
        }
    }
}
