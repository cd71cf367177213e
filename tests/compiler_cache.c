/* The compiler in PATH while the tests run: the real one, through ccache where it compiles.
 *
 * ccache is fastest where it need not preprocess: it remembers the headers from which an object was made, and compares them. It
 * does not notice a new header in a folder that the compiler searches earlier. So the names of all files in and below the
 * searched folders become part of the comparison: as a folder in CPATH that does not exist. ccache compares CPATH in this mode
 * only. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAMES = 4000, DEEPEST = 8 };

/* Options with a searched folder, in this word or in the next. */
static const char *const SEARCHED[] = {"-I", "-isystem", "-iquote", "-idirafter", NULL};
/* Options whose effect on the searched folders is not known here. */
static const char *const UNKNOWN[] = {
    "@", "-include", "-imacros", "-iprefix", "-iwithprefix", "-isysroot", "--sysroot", "-imultilib", "-nostdinc", "-I-", NULL};
/* Options without an object file that ccache could keep. */
static const char *const NOT_COMPILED[] = {"-E", "-S", "-M", "-MM", "-fsyntax-only", NULL};
static const char *const SEARCHED_VARIABLES[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", NULL};
static const char *const SOURCES[] = {".c", ".S", ".s", ".cpp", ".cc", ".cxx", NULL};
/* Files that come and go beside headers; no file includes them. */
static const char *const MADE[] = {".o", ".d", NULL};

static int starts(const char *text, const char *const *with)
{
    for (; *with; with++) {
        if (!strncmp(text, *with, strlen(*with))) {
            return 1;
        }
    }
    return 0;
}

static int is_one(const char *text, const char *const *of)
{
    for (; *of; of++) {
        if (!strcmp(text, *of)) {
            return 1;
        }
    }
    return 0;
}

static int ends(const char *text, const char *const *with)
{
    for (; *with; with++) {
        size_t all = strlen(text), part = strlen(*with);
        if (all > part && !strcmp(text + all - part, *with)) {
            return 1;
        }
    }
    return 0;
}

/* Return a hash: FNV-1a, mixed at the end so that sums of hashes are as good as hashes. */
static uint64_t hashed(uint64_t hash, const char *text)
{
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    }
    hash ^= hash >> 32;
    hash *= 0xD6E8FEB86659FD93u;
    return hash ^ hash >> 32;
}

/* Add the names in and below a folder, in any order. Return 0 if there are too many. */
static int add_names(const char *folder, uint64_t seed, uint64_t *sum, int *left, int depth)
{
    DIR *opened = opendir(*folder ? folder : ".");
    if (!opened) {
        return 1;
    }
    int enough = 1;
    for (struct dirent *each; enough && (each = readdir(opened));) {
        if (!strcmp(each->d_name, ".") || !strcmp(each->d_name, "..") || ends(each->d_name, MADE)) {
            continue;
        }
        uint64_t hash = hashed(seed, each->d_name);
        *sum += hash;
        enough = --*left > 0;
        if (each->d_type == DT_REG || !enough) {
            continue;
        }
        char path[4096];
        struct stat found;
        if (snprintf(path, sizeof path, "%s/%s", *folder ? folder : ".", each->d_name) >= (int)sizeof path) {
            enough = 0;
        } else if (!stat(path, &found) && S_ISDIR(found.st_mode)) {
            enough = depth < DEEPEST && add_names(path, hash, sum, left, depth + 1);
        }
    }
    closedir(opened);
    return enough;
}

int main(int count, char **words)
{
    (void)count;
    int compiles = 0, knows = 1, left = MOST_NAMES;
    uint64_t sum = 0, place = 14695981039346656037u;
    for (int number = 1; words[number]; number++) {
        const char *word = words[number];
        compiles |= !strcmp(word, "-c");
        knows &= !starts(word, UNKNOWN);
        if (is_one(word, NOT_COMPILED)) {
            compiles = 0;
            break;
        }
        const char *folder = NULL;
        char beside[4096] = "";
        for (const char *const *option = SEARCHED; *option; option++) {
            size_t length = strlen(*option);
            if (!strncmp(word, *option, length)) {
                folder = word[length] ? word + length : words[number + 1] ? words[number + 1] : "";
                break;
            }
        }
        if (!folder && *word != '-' && ends(word, SOURCES)) {
            const char *slash = strrchr(word, '/');
            snprintf(beside, sizeof beside, "%.*s", slash ? (int)(slash - word) : 0, word);
            folder = slash == word ? "/" : beside;
        }
        if (folder && knows) {
            place = hashed(place, "next folder");
            knows = add_names(folder, place, &sum, &left, 0);
        }
    }
    if (!compiles) {
        /* The compiler finds its parts relative to this name. */
        words[0] = (char *)COMPILER;
        execv(COMPILER, words);
        return 127;
    }
    for (const char *const *variable = SEARCHED_VARIABLES; *variable; variable++) {
        knows &= !getenv(*variable);
    }
    if (knows) {
        char nowhere[64];
        snprintf(nowhere, sizeof nowhere, "/there is no such folder/%016llx", (unsigned long long)sum);
        setenv("CPATH", nowhere, 1);
    } else {
        setenv("CCACHE_NODIRECT", "1", 1);
    }
    setenv("CCACHE_NOINODECACHE", "1", 1);
    setenv("CCACHE_DIR", CCACHE_FOLDER, 1);
    setenv("CCACHE_MAXSIZE", "1G", 1);
    char **all = malloc((size_t)(count + 2) * sizeof *all);
    if (!all) {
        return 127;
    }
    all[0] = (char *)CCACHE;
    all[1] = (char *)COMPILER;
    memcpy(all + 2, words + 1, (size_t)count * sizeof *all);
    execv(CCACHE, all);
    return 127;
}
