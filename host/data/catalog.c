/* catalog.c - the table of data sets known by name. Planetoid's files are pinned by the SHA-256 of each file; the
 * gnn-benchmark archives, which exist in several compressions of the same arrays, by the SHA-256 of their content
 * (data_set.sha256). */
#include "data/catalog.h"

#include <string.h>

#include "core/suggest.h"
#include "data/internal.h"

#define PLANETOID "https://github.com/kimiyoung/planetoid/raw/master/data/"
#define BENCHMARK "https://github.com/shchur/gnn-benchmark/raw/master/data/npz/"

static const catalog_file cora[] = {
    {"ind.cora.x", PLANETOID "ind.cora.x", "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab", NULL,
     22119},
    {"ind.cora.y", PLANETOID "ind.cora.y", "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1", NULL,
     4054},
    {"ind.cora.tx", PLANETOID "ind.cora.tx", "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a", NULL,
     148025},
    {"ind.cora.ty", PLANETOID "ind.cora.ty", "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad", NULL,
     28135},
    {"ind.cora.allx", PLANETOID "ind.cora.allx", "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
     NULL, 257305},
    {"ind.cora.ally", PLANETOID "ind.cora.ally", "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
     NULL, 47959},
    {"ind.cora.graph", PLANETOID "ind.cora.graph", "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
     NULL, 59847},
    {"ind.cora.test.index", PLANETOID "ind.cora.test.index",
     "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875", NULL, 5000},
};
static const catalog_file citeseer[] = {
    {"ind.citeseer.x", PLANETOID "ind.citeseer.x", "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
     NULL, 31087},
    {"ind.citeseer.y", PLANETOID "ind.citeseer.y", "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
     NULL, 3014},
    {"ind.citeseer.tx", PLANETOID "ind.citeseer.tx", "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
     NULL, 260321},
    {"ind.citeseer.ty", PLANETOID "ind.citeseer.ty", "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
     NULL, 24135},
    {"ind.citeseer.allx", PLANETOID "ind.citeseer.allx",
     "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668", NULL, 595021},
    {"ind.citeseer.ally", PLANETOID "ind.citeseer.ally",
     "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95", NULL, 55623},
    {"ind.citeseer.graph", PLANETOID "ind.citeseer.graph",
     "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7", NULL, 61987},
    {"ind.citeseer.test.index", PLANETOID "ind.citeseer.test.index",
     "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4", NULL, 5000},
};
static const catalog_file pubmed[] = {
    {"ind.pubmed.x", PLANETOID "ind.pubmed.x", "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33", NULL,
     23172},
    {"ind.pubmed.y", PLANETOID "ind.pubmed.y", "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3", NULL,
     854},
    {"ind.pubmed.tx", PLANETOID "ind.pubmed.tx", "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
     NULL, 405505},
    {"ind.pubmed.ty", PLANETOID "ind.pubmed.ty", "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
     NULL, 12135},
    {"ind.pubmed.allx", PLANETOID "ind.pubmed.allx", "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
     NULL, 7578385},
    {"ind.pubmed.ally", PLANETOID "ind.pubmed.ally", "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
     NULL, 224739},
    {"ind.pubmed.graph", PLANETOID "ind.pubmed.graph",
     "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9", NULL, 471808},
    {"ind.pubmed.test.index", PLANETOID "ind.pubmed.test.index",
     "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5", NULL, 6000},
};
static const catalog_file coauthor_cs[] = {{"coauthor_cs.npz", BENCHMARK "ms_academic_cs.npz", NULL,
                                            "ccc880481bb2331182b0bcf7f4c0ff5b08d08f21cabeb3261ed42bd7f1db723e", 0}};
static const catalog_file amazon_photo[] = {{"amazon_photo.npz", BENCHMARK "amazon_electronics_photo.npz", NULL,
                                             "1f94dd66db63e0ebd8db6e17cf0e67a0e514907fe8ab7b0e02e3fa3baaf0cf30", 0}};
static const catalog_file amazon_computers[] = {
    {"amazon_computers.npz", BENCHMARK "amazon_electronics_computers.npz", NULL,
     "1530673218536d2f22ee363e82446d3c6cfcd53853b015d065efaef15a9b3788", 0}};

static const struct {
    data_catalog_entry about;
    const catalog_file *files;
} sets[] = {
    {{"embedded", "Cora citation network, fathom's own split", "see data/README.md", 0, 0}, NULL},
    {{"karate", "Zachary's karate club, 4 communities", "public domain", 0, 0}, NULL},
    {{"karate-2", "Zachary's karate club, 2 factions", "public domain", 0, 0}, NULL},
    {{"cora", "Cora citation network, Planetoid's split", "MIT (kimiyoung/planetoid)", 8, 5429}, cora},
    {{"citeseer", "Citeseer citation network, Planetoid's split", "MIT (kimiyoung/planetoid)", 8, 4732}, citeseer},
    {{"pubmed", "Pubmed diabetes citation network, Planetoid's split", "MIT (kimiyoung/planetoid)", 8, 44338}, pubmed},
    {{"coauthor-cs", "Coauthor network of computer science", "MIT (shchur/gnn-benchmark)", 1, 0}, coauthor_cs},
    {{"amazon-photo", "Amazon co-purchases, photo", "MIT (shchur/gnn-benchmark)", 1, 0}, amazon_photo},
    {{"amazon-computers", "Amazon co-purchases, computers", "MIT (shchur/gnn-benchmark)", 1, 0}, amazon_computers},
};

int data_catalog_count(void) { return (int)(sizeof sets / sizeof sets[0]); }

const data_catalog_entry *data_catalog_at(int index) {
    return index < 0 || index >= data_catalog_count() ? NULL : &sets[index].about;
}

const catalog_file *catalog_files(int *count, const char *name) {
    *count = 0;
    for (int i = 0; i < data_catalog_count(); i++)
        if (data_same_name(name, strlen(name), sets[i].about.name)) {
            *count = sets[i].about.file_count;
            return sets[i].files;
        }
    return NULL;
}

int64_t data_published_edges(const char *name) {
    for (int i = 0; i < data_catalog_count(); i++)
        if (strcmp(sets[i].about.name, name) == 0)
            return sets[i].about.published_edges;
    return 0;
}

const char *data_catalog_near(const char *name) {
    const char *names[64];
    int count = data_catalog_count() < 64 ? data_catalog_count() : 64;
    for (int i = 0; i < count; i++)
        names[i] = data_catalog_at(i)->name;
    return suggest_nearest(name, names, (size_t)count);
}
